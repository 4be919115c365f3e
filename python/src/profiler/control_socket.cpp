// The control socket of a monitor: requests of other processes come to Python, on a thread that uses the descriptors of the program.
#include "mindtorch/base/control_socket.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "mindtorch/base/file.h"
#include "mindtorch/base/own_descriptors.h"
#include "python/src/gil.h"
#include "python/src/profiler/bind_profiler.h"

namespace mindtorch::python {
namespace {

// A function of Python that threads without the GIL keep and drop.
std::shared_ptr<nb::object> keep(nb::object function) {
  return {new nb::object(std::move(function)), [](nb::object* kept) {
            const WithGil locked;
            if (!locked) static_cast<void>(kept->release());  // the interpreter has ended
            delete kept;
          }};
}

ControlSocket::Ask calls(nb::object answer) {
  return [kept = keep(std::move(answer))](ControlSocket::Token token, const std::string& line) {
    const WithGil locked;
    if (!locked) return;
    try {
      (*kept)(token, nb::bytes(line.data(), line.size()));
    } catch (const nb::python_error&) {
      throw std::runtime_error("the answer failed");
    }
  };
}

std::string text_of(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

}  // namespace

void bind_control_socket(nb::module_& module) {
  module.def(
      "write_apart",
      [](const nb::bytes& path, const nb::bytes& content) {
        const std::string file = text_of(path), bytes = text_of(content);
        const ReleasedGil unlocked;
        with_own_descriptors([&] {
          AtomicFile output(file);
          output.write(bytes);
          output.commit();
        });
      },
      nb::arg("path"), nb::arg("content"), "Writes a file; the program can neither close it meanwhile nor get its bytes.");
  nb::class_<ControlSocket>(module, "ControlSocket", "A Unix socket whose descriptors the program can neither close nor take for its own.")
      .def(
          "__init__",
          [](ControlSocket* self, const nb::bytes& path, nb::object answer) {
            const std::string file = text_of(path);
            const ControlSocket::Ask ask = calls(std::move(answer));
            const ReleasedGil unlocked;
            new (self) ControlSocket(file, ask);
          },
          nb::arg("path"), nb::arg("answer"), "`answer` is called with a token and a line; reply() may follow at any time.")
      .def(
          "reply", [](ControlSocket& self, ControlSocket::Token token, const nb::bytes& line) { self.reply(token, text_of(line)); },
          nb::arg("token"), nb::arg("line"))
      .def("close",
           [](ControlSocket& self) {
             const ReleasedGil unlocked;
             self.close();
           })
      .def("is_lost", &ControlSocket::is_lost, "The program has closed the socket, where the kernel has no separate descriptors.");
}

}  // namespace mindtorch::python
