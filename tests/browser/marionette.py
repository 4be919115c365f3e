"""Firefox through Selenium, without a driver program between them.

Selenium speaks WebDriver to geckodriver, which passes each command on to Marionette, the remote control inside of Firefox. Debian has
Firefox but not geckodriver, so this connection speaks to Marionette itself: each message is its length, a colon, and a JSON list.
"""

import json
import socket
import subprocess
import time

from selenium.webdriver.remote.client_config import ClientConfig
from selenium.webdriver.remote.command import Command
from selenium.webdriver.remote.remote_connection import RemoteConnection

# Commands that the tests need, by Marionette's names.
COMMANDS = {
    Command.NEW_SESSION: "WebDriver:NewSession",
    Command.QUIT: "WebDriver:DeleteSession",
    Command.GET: "WebDriver:Navigate",
    Command.REFRESH: "WebDriver:Refresh",
    Command.W3C_EXECUTE_SCRIPT: "WebDriver:ExecuteScript",
    Command.FIND_ELEMENT: "WebDriver:FindElement",
    Command.FIND_ELEMENTS: "WebDriver:FindElements",
    Command.FIND_CHILD_ELEMENT: "WebDriver:FindElement",
    Command.FIND_CHILD_ELEMENTS: "WebDriver:FindElements",
    Command.CLICK_ELEMENT: "WebDriver:ElementClick",
    Command.SEND_KEYS_TO_ELEMENT: "WebDriver:ElementSendKeys",
    Command.GET_ELEMENT_TEXT: "WebDriver:GetElementText",
    Command.GET_ELEMENT_RECT: "WebDriver:GetElementRect",
    Command.W3C_ACTIONS: "WebDriver:PerformActions",
    Command.W3C_CLEAR_ACTIONS: "WebDriver:ReleaseActions",
    Command.SET_WINDOW_RECT: "WebDriver:SetWindowRect",
    Command.GET_WINDOW_RECT: "WebDriver:GetWindowRect",
    Command.SCREENSHOT: "WebDriver:TakeScreenshot",
    Command.PRINT_PAGE: "WebDriver:Print",
    "setContext": "Marionette:SetContext",
}


class MarionetteConnection(RemoteConnection):
    """Starts Firefox with a profile folder, and carries Selenium's commands to it."""

    def __init__(self, firefox, profile, port):
        super().__init__(client_config=ClientConfig(remote_server_addr="http://localhost"))
        preferences = {
            "marionette.port": port,
            "browser.shell.checkDefaultBrowser": False,
            "datareporting.policy.dataSubmissionEnabled": False,
        }
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in preferences.items()]
        (profile / "user.js").write_text("\n".join(lines))
        command = [firefox, "--headless", "--no-remote", "--profile", str(profile), "--marionette", "--remote-allow-system-access"]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._socket = self._connect(port)
        self._count = 0
        self._receive()  # Marionette introduces itself

    def _connect(self, port):
        """Waits until Firefox listens, which takes some seconds."""
        for _ in range(600):
            try:
                return socket.create_connection(("127.0.0.1", port), timeout=120)
            except OSError:
                if self._process.poll() is not None:
                    raise
                time.sleep(0.1)
        raise TimeoutError("Firefox does not answer")

    def _receive(self):
        size = b""
        while (digit := self._socket.recv(1)) != b":":
            if not digit:
                raise ConnectionError("Firefox has ended")
            size += digit
        message = b""
        while len(message) < int(size):
            message += self._socket.recv(int(size) - len(message))
        return json.loads(message)

    def execute(self, command, params):
        if command not in COMMANDS:
            return {"status": 501, "value": {"error": "unknown command", "message": command, "stacktrace": ""}}
        params = {name: value for name, value in params.items() if name != "sessionId"}
        if "id" in params and command in (Command.FIND_CHILD_ELEMENT, Command.FIND_CHILD_ELEMENTS):
            params["element"] = params.pop("id")
        self._count += 1
        message = json.dumps([0, self._count, COMMANDS[command], params]).encode()
        self._socket.sendall(b"%d:%s" % (len(message), message))
        _, _, error, value = self._receive()
        if error is not None:
            return {"status": 500, "value": error}
        is_plain = isinstance(value, dict) and set(value) == {"value"}
        return {"status": 0, "value": value["value"] if is_plain else value}

    def close(self):
        super().close()
        self._socket.close()
        self._process.terminate()
        self._process.wait(timeout=30)
