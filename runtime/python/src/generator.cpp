// Random numbers in Python: Generator objects and the seed of the default one.
#include "runtime/python/src/generator.h"

#include <nanobind/stl/pair.h>

#include <random>

namespace mindtorch::python {

namespace {

std::uint64_t fresh_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

// torch takes negative seeds too: the same bits.
std::uint64_t as_seed(nb::int_ seed) {
  const unsigned long long value = PyLong_AsUnsignedLongLongMask(seed.ptr());
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return value;
}

}  // namespace

void bind_generator(nb::module_& module) {
  nb::class_<Generator>(module, "Generator", "A stream of random numbers of its own.")
      .def(
          "__init__", [](Generator* self, nb::handle) { new (self) Generator(67280421310721); }, nb::arg("device") = nb::none())
      .def(
          "manual_seed",
          [](nb::object self, nb::int_ seed) {
            nb::cast<Generator&>(self).manual_seed(as_seed(seed));
            return self;
          },
          nb::arg("seed"))
      .def("initial_seed", &Generator::initial_seed)
      .def("seed",
           [](Generator& self) {
             const std::uint64_t seed = fresh_seed();
             self.manual_seed(seed);
             return seed;
           })
      .def("get_state", [](const Generator& self) { return std::pair(self.get_state().seed, self.get_state().offset); })
      .def(
          "set_state",
          [](Generator& self, std::pair<std::uint64_t, std::uint64_t> state) {
            self.set_state({state.first, state.second});
          },
          nb::arg("state"));
  module.attr("default_generator") = nb::cast(&default_generator(), nb::rv_policy::reference);
}

Generator* as_generator(PyObject* object) {
  Generator* generator = nullptr;
  return nb::try_cast(nb::handle(object), generator) ? generator : nullptr;
}

}  // namespace mindtorch::python
