"""Browsers of Debian, driven through Selenium. Without them (./dev test --browser installs them) the tests of this folder are skipped."""

import importlib.util
import json
import shutil

import pytest

if importlib.util.find_spec("selenium") is None:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def chromium():
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
    started = webdriver.Chrome(options=options, service=Service(driver))
    started.set_window_size(1280, 720 + 143)  # the window has a frame
    yield started
    started.quit()


class Page:
    """An opened report. close() checks that it logged nothing and asked no network for anything."""

    def __init__(self, browser, path):
        self.browser = browser
        browser.get("about:blank")
        browser.get_log("browser"), browser.get_log("performance")
        browser.get(path.as_uri())

    def go(self, address):
        """Shows a view as a link to it would."""
        self.run("location.hash = arguments[0]; render();", address)

    def run(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def all(self, selector):
        return self.browser.find_elements("css selector", selector)

    def one(self, selector):
        return self.browser.find_element("css selector", selector)

    def texts(self, selector):
        return [element.text for element in self.all(selector)]

    @property
    def address(self):
        return self.run("return location.hash")

    def problems(self):
        return [entry["message"] for entry in self.browser.get_log("browser")]

    def requests(self):
        messages = [json.loads(entry["message"])["message"] for entry in self.browser.get_log("performance")]
        urls = [message["params"]["request"]["url"] for message in messages if message["method"] == "Network.requestWillBeSent"]
        return [url for url in urls if not url.startswith(("file:", "data:", "about:"))]


@pytest.fixture
def page(chromium):
    opened = []

    def open_page(path):
        opened.append(Page(chromium, path))
        return opened[-1]

    yield open_page
    for each in opened[-1:]:
        assert each.problems() == []
        assert each.requests() == []
