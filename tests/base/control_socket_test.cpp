// The control socket: requests and replies, clients that misbehave, and a program that closes descriptors and forks.
#include "mindtorch/base/control_socket.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "mindtorch/base/error.h"
#include "tests/support/refused_calls.h"
#include "tests/support/temporary_folder.h"

namespace mindtorch {
namespace {

// A client that is written to and read from by hand.
class Client {
 public:
  explicit Client(const std::string& path) : number_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size());
    is_connected_ = ::connect(number_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~Client() { ::close(number_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool is_connected() const { return is_connected_; }
  bool send(const std::string& text) {
    return ::send(number_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  void end_request() { ::shutdown(number_, SHUT_WR); }
  // All that comes until the other side closes; "reset" if it does so without the rest.
  std::string read() {
    std::string all;
    std::array<char, 4096> buffer;
    while (true) {
      const ssize_t count = ::recv(number_, buffer.data(), buffer.size(), 0);
      if (count == 0) return all;
      if (count < 0) return all + "reset";
      all.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }
  std::string ask(const std::string& line) { return send(line + "\n") ? read() : "not sent"; }

 private:
  int number_;
  bool is_connected_ = false;
};

class ControlSocketTest : public testing::Test {
 protected:
  std::string path() const { return folder_.path() / "1.sock"; }
  // Replies at once with the request in brackets.
  void open(const ControlLimits& limits = {}) {
    socket_ = std::make_unique<ControlSocket>(
        path(), [this](ControlSocket::Token token, const std::string& line) { socket_->reply(token, "[" + line + "]"); }, limits);
  }

  tests::TemporaryFolder folder_;
  std::unique_ptr<ControlSocket> socket_;
};

TEST_F(ControlSocketTest, EachRequestGetsItsReply) {
  open();
  EXPECT_EQ(Client(path()).ask("status"), "[status]\n");
  Client first(path()), second(path());
  EXPECT_EQ(second.ask("b"), "[b]\n");
  EXPECT_EQ(first.ask("a"), "[a]\n");
}

TEST_F(ControlSocketTest, AReplyMayComeLaterAndFromAnotherThread) {
  std::promise<ControlSocket::Token> asked;
  socket_ = std::make_unique<ControlSocket>(path(), [&](ControlSocket::Token token, const std::string&) { asked.set_value(token); });
  Client client(path());
  ASSERT_TRUE(client.send("write\n"));
  const ControlSocket::Token token = asked.get_future().get();
  std::thread([&] { socket_->reply(token, "done"); }).join();
  EXPECT_EQ(client.read(), "done\n");
  socket_->reply(token, "again");  // the client has gone
}

TEST_F(ControlSocketTest, OnlyTheOwnerCanOpenTheFileAndItIsGoneAfterwards) {
  const mode_t before = ::umask(0);
  open();
  ::umask(before);
  struct stat about;
  ASSERT_EQ(::stat(path().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  socket_->close();
  socket_->close();
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(ControlSocketTest, AFileThatAnotherProcessHasLeftIsReplacedAndOneThatReplacesOursStays) {
  std::ofstream(path()) << "left";
  std::ofstream(path() + ".new") << "left";
  open();
  EXPECT_EQ(Client(path()).ask("a"), "[a]\n");
  std::filesystem::remove(path());
  std::ofstream(path()) << "another";
  socket_->close();
  EXPECT_TRUE(std::filesystem::exists(path()));
}

TEST_F(ControlSocketTest, ASocketThatCannotBeMadeIsAnErrorThatNamesIt) {
  const auto code_for = [](const std::string& path) {
    try {
      const ControlSocket socket(path, [](ControlSocket::Token, const std::string&) {});
    } catch (const IoError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(path));
      return error.code();
    }
    return 0;
  };
  EXPECT_EQ(code_for(folder_.path() / "none" / "1.sock"), ENOENT);
  EXPECT_EQ(code_for(folder_.path() / std::string(120, 'x')), ENAMETOOLONG);
}

TEST_F(ControlSocketTest, LongRequestsAreAnsweredAndNotReset) {
  open({.request_bytes = 1000});
  EXPECT_EQ(Client(path()).ask(std::string(1000, 'x')), "[" + std::string(1000, 'x') + "]\n");
  EXPECT_THAT(Client(path()).ask(std::string(1001, 'x')), testing::HasSubstr("at most 1000 bytes"));
  EXPECT_THAT(Client(path()).ask(std::string(3'000'000, 'x')), testing::HasSubstr("at most 1000 bytes"));
  EXPECT_EQ(Client(path()).ask("a\nb\nc"), "[a]\n") << "one request for each connection";
}

TEST_F(ControlSocketTest, AClientMayEndItsRequestByClosingItsHalf) {
  open();
  Client client(path()), silent(path());
  ASSERT_TRUE(client.send("half"));
  client.end_request();
  EXPECT_EQ(client.read(), "[half]\n");
  silent.end_request();
  EXPECT_EQ(silent.read(), "");
}

TEST_F(ControlSocketTest, ManyClientsAtOnceAreAllAnswered) {
  open({.connections = 8});
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 100; ++i) clients.push_back(std::make_unique<Client>(path()));
  for (const auto& client : clients) ASSERT_TRUE(client->is_connected());
  for (const auto& client : clients) ASSERT_TRUE(client->send("a\n"));
  for (const auto& client : clients) ASSERT_EQ(client->read(), "[a]\n");
}

TEST_F(ControlSocketTest, SilentClientsAreLeft) {
  open({.connections = 4, .silence = std::chrono::milliseconds(1)});
  std::vector<std::unique_ptr<Client>> silent;
  for (int i = 0; i < 20; ++i) silent.push_back(std::make_unique<Client>(path()));
  for (const auto& client : silent) EXPECT_EQ(client->read(), "");
}

TEST_F(ControlSocketTest, ClosingSendsWhatIsThereAndTellsTheOthers) {
  std::latch asked(2);
  socket_ = std::make_unique<ControlSocket>(path(), [&](ControlSocket::Token token, const std::string& line) {
    if (line == "long") socket_->reply(token, std::string(3'000'000, 'x'));
    asked.count_down();
  });
  Client waits(path()), reads(path());
  ASSERT_TRUE(reads.send("long\n") && waits.send("never\n"));
  asked.wait();
  std::thread reader([&] { EXPECT_EQ(reads.read().size(), 3'000'001u); });
  socket_->close();
  reader.join();
  EXPECT_THAT(waits.read(), testing::HasSubstr("the monitor has ended"));
  EXPECT_FALSE(Client(path()).is_connected());
}

TEST_F(ControlSocketTest, AHandlerThatFailsOrClosesDoesNotStopIt) {
  socket_ = std::make_unique<ControlSocket>(path(), [this](ControlSocket::Token, const std::string& line) {
    if (line == "close") return socket_->close();
    throw std::runtime_error("no");
  });
  EXPECT_THAT(Client(path()).ask("a"), testing::HasSubstr("could not handle"));
  EXPECT_THAT(Client(path()).ask("close"), testing::HasSubstr("has ended"));
}

// The numbers that are open in the table of the program.
std::vector<int> open_numbers() {
  std::vector<int> found;
  for (int number = 3; number < 100; ++number)
    if (::fcntl(number, F_GETFD) >= 0) found.push_back(number);
  return found;
}

TEST_F(ControlSocketTest, TheProgramHasNoDescriptorOfItAndMayCloseAllOthers) {
  const std::vector<int> before = open_numbers();
  open();
  Client waiting(path());
  ASSERT_TRUE(waiting.send("half of a "));
  const std::vector<int> with_client = open_numbers();
  EXPECT_EQ(with_client.size(), before.size() + 1) << "the socket has taken numbers of the program";
  std::array<int, 40> files;
  for (int& number : files) number = ::open((folder_.path() / "program").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  for (int number = 3; number < 100; ++number)
    if (std::find(with_client.begin(), with_client.end(), number) == with_client.end()) ::close(number);
  for (int& number : files) number = ::open((folder_.path() / "program").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  EXPECT_EQ(waiting.ask("request"), "[half of a request]\n");
  socket_->close();
  for (const int number : files) EXPECT_GE(::fcntl(number, F_GETFD), 0) << "a file of the program was closed";
  EXPECT_EQ(std::filesystem::file_size(folder_.path() / "program"), 0u) << "a file of the program was written";
  for (const int number : files) ::close(number);
}

TEST_F(ControlSocketTest, AProgramWithoutFreeDescriptorsIsAnswered) {
  open();
  Client client(path());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few = {static_cast<rlim_t>(open_numbers().back() + 20), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  std::vector<int> all;
  for (int number = ::dup(2); number >= 0; number = ::dup(2)) all.push_back(number);
  const std::string reply = client.ask("a");
  for (const int number : all) ::close(number);
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(reply, "[a]\n");
}

TEST_F(ControlSocketTest, AForkedChildTouchesNothing) {
  open();
  const pid_t child = ::fork();
  if (child == 0) {
    socket_->reply(1, "from the child");
    socket_->close();
    socket_.reset();
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Client(path()).ask("a"), "[a]\n");
}

TEST_F(ControlSocketTest, WithoutATableOfItsOwnItLeavesTheFilesOfTheProgramAlone) {
  const auto status = tests::status_where_refused({tests::kCloseRange, SYS_unshare}, [&] {
    open();
    if (Client(path()).ask("a") != "[a]\n") return 2;
    for (int number = 3; number < 100; ++number) ::close(number);
    const std::string program = folder_.path() / "program";
    std::array<int, 40> files;
    for (int& number : files) number = ::open(program.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    while (!socket_->is_lost()) std::this_thread::yield();
    socket_->close();
    for (const int number : files)
      if (::fcntl(number, F_GETFD) < 0) return 3;
    if (std::filesystem::file_size(program) != 0) return 4;
    return std::filesystem::exists(path()) ? 5 : 0;
  });
  if (!status) GTEST_SKIP() << "this system has no filters of system calls";
  EXPECT_EQ(*status, 0);
}

}  // namespace
}  // namespace mindtorch
