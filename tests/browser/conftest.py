"""Browsers of Debian, driven through Selenium. Without them (./dev test --browser installs them) the tests of this folder are skipped."""

import importlib.util
import json
import shutil
import socket
import sys
from pathlib import Path

import pytest

if importlib.util.find_spec("selenium") is None:
    collect_ignore_glob = ["test_*.py"]

WIDTH, HEIGHT = 1280, 720


class Chromium:
    """Chromium logs what a page prints, and what it asks the network for."""

    def __init__(self):
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
        if not browser or not driver:
            pytest.skip("Chromium is not installed (./dev test --browser installs it)")
        options = webdriver.ChromeOptions()
        options.binary_location = browser
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.selenium = webdriver.Chrome(options=options, service=Service(driver))

    def run(self, script, *arguments):
        return self.selenium.execute_script(script, *arguments)

    def forget(self):
        self.selenium.get_log("browser"), self.selenium.get_log("performance")

    def problems(self):
        return [entry["message"] for entry in self.selenium.get_log("browser")]

    def requests(self):
        messages = [json.loads(entry["message"])["message"] for entry in self.selenium.get_log("performance")]
        return [message["params"]["request"]["url"] for message in messages if message["method"] == "Network.requestWillBeSent"]


class Firefox:
    """Firefox keeps its log of errors and of what is refused, which only its own scripts may read."""

    READ_LOG = """
      const isOurs = (entry) => entry instanceof Ci.nsIScriptError && entry.sourceName.startsWith("file:");
      const found = Services.console.getMessageArray().filter(isOurs);
      Services.console.reset();
      return found.map((entry) => entry.errorMessage);
    """

    # Scripts of Marionette do not see the constants of a page, so the page runs them itself.
    RUN = """
      const holder = document.createElement("script");
      holder.dataset.arguments = JSON.stringify(Array.from(arguments).slice(1));
      holder.textContent = `{
        const holder = document.currentScript;
        try {
          const value = (function () { ${arguments[0]} }).apply(null, JSON.parse(holder.dataset.arguments));
          holder.dataset.value = JSON.stringify(value === undefined ? null : value);
        } catch (error) {
          holder.dataset.error = String(error);
        }
      }`;
      document.documentElement.append(holder);
      holder.remove();
      if (holder.dataset.error) throw new Error(holder.dataset.error);
      return JSON.parse(holder.dataset.value);
    """

    def __init__(self, folder):
        from selenium import webdriver

        browser = shutil.which("firefox-esr") or shutil.which("firefox")
        if not browser:
            pytest.skip("Firefox is not installed (./dev test --browser installs it)")
        sys.path.insert(0, str(Path(__file__).parent))
        from marionette import MarionetteConnection

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.connection = MarionetteConnection(browser, folder, port)
        self.selenium = webdriver.Remote(command_executor=self.connection, options=webdriver.FirefoxOptions())

    def run(self, script, *arguments):
        return self.selenium.execute_script(self.RUN, script, *arguments)

    def forget(self):
        self.problems()

    def problems(self):
        self.selenium.execute("setContext", {"value": "chrome"})
        try:
            return self.selenium.execute_script(self.READ_LOG)
        finally:
            self.selenium.execute("setContext", {"value": "content"})

    def requests(self):
        return self.selenium.execute_script("return performance.getEntriesByType('resource').map((entry) => entry.name)")


@pytest.fixture(scope="session", params=["chromium", "firefox"])
def browser(request, tmp_path_factory):
    started = Chromium() if request.param == "chromium" else Firefox(tmp_path_factory.mktemp("firefox"))
    started.name = request.param
    resize(started.selenium, WIDTH, HEIGHT)
    yield started
    started.selenium.quit()
    if request.param == "firefox":
        started.connection.close()


def resize(selenium, width, height):
    """Gives the page this size; the window has a frame around it."""
    selenium.set_window_size(width, height)
    inner = selenium.execute_script("return [window.innerWidth, window.innerHeight]")
    selenium.set_window_size(2 * width - inner[0], 2 * height - inner[1])


class Page:
    """An opened report."""

    def __init__(self, browser, path):
        self.started, self.browser = browser, browser.selenium
        self.browser.get("about:blank")
        browser.forget()
        self.browser.get(path.as_uri())

    def go(self, address):
        """Shows a view as a link to it would."""
        self.run("location.hash = arguments[0]; render();", address)

    def run(self, script, *arguments):
        return self.started.run(script, *arguments)

    def all(self, selector):
        return self.browser.find_elements("css selector", selector)

    def one(self, selector):
        return self.browser.find_element("css selector", selector)

    def texts(self, selector):
        return [element.text for element in self.all(selector)]

    def resize(self, width=WIDTH, height=HEIGHT):
        resize(self.browser, width, height)

    @property
    def address(self):
        return self.run("return location.hash")

    def problems(self):
        return self.started.problems()

    def requests(self):
        return [url for url in self.started.requests() if not url.startswith(("file:", "data:", "about:"))]


@pytest.fixture
def page(browser):
    """Opens reports. After the test, the last one must have logged nothing and asked no network for anything."""
    opened = []

    def open_page(path):
        opened.append(Page(browser, path))
        return opened[-1]

    yield open_page
    for each in opened[-1:]:
        assert each.problems() == []
        assert each.requests() == []
