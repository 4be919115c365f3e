// The list of all registrations of the runtime. A new family of ops adds its declaration and its call here.
#include "mindtorch/runtime/initialize.h"

#include <mutex>

#include "mindtorch/runtime/cpu_backend.h"
#include "mindtorch/runtime/dispatch/library.h"
#include "mindtorch/runtime/embedded_host.h"
#include "mindtorch/runtime/kernels/npu/npu_backend.h"
#include "mindtorch/runtime/parallel.h"

namespace mindtorch {

void register_creation_ops(Library& library);
void register_copy_ops(Library& library);
void register_random_ops(Library& library);
void register_sequence_ops(Library& library);
void register_arithmetic_ops(Library& library);
void register_unary_ops(Library& library);
void register_comparison_ops(Library& library);
void register_power_ops(Library& library);
void register_reduction_ops(Library& library);
void register_extremum_ops(Library& library);
void register_matmul_ops(Library& library);
void register_view_ops(Library& library);
void register_slicing_ops(Library& library);
void register_joining_ops(Library& library);
void register_indexing_ops(Library& library);
void register_advanced_indexing_ops(Library& library);
void register_nonzero_ops(Library& library);
void register_activation_ops(Library& library);
void register_softmax_ops(Library& library);
void register_loss_ops(Library& library);
void register_nll_loss_ops(Library& library);
void register_embedding_ops(Library& library);
void register_dropout_ops(Library& library);
void register_layer_norm_ops(Library& library);
void register_channel_norm_ops(Library& library);
void register_convolution_ops(Library& library);
void register_im2col_ops(Library& library);
void register_pooling_ops(Library& library);
void register_attention_ops(Library& library);

void initialize_runtime() {
  static std::once_flag once;
  // Registration functions must not call ops: such an op would wait forever for call_once to return.
  std::call_once(once, [] {
    get_num_threads();  // makes the pool, which tells the BLAS how many threads it may use
    register_cpu_backend();
    npu::register_npu_backend();
    Library& library = Library::get();
    register_creation_ops(library);
    register_copy_ops(library);
    register_random_ops(library);
    register_sequence_ops(library);
    register_arithmetic_ops(library);
    register_unary_ops(library);
    register_comparison_ops(library);
    register_power_ops(library);
    register_reduction_ops(library);
    register_extremum_ops(library);
    register_matmul_ops(library);
    register_view_ops(library);
    register_slicing_ops(library);
    register_joining_ops(library);
    register_indexing_ops(library);
    register_advanced_indexing_ops(library);
    register_nonzero_ops(library);
    register_activation_ops(library);
    register_softmax_ops(library);
    register_loss_ops(library);
    register_nll_loss_ops(library);
    register_embedding_ops(library);
    register_dropout_ops(library);
    register_layer_norm_ops(library);
    register_channel_norm_ops(library);
    register_convolution_ops(library);
    register_im2col_ops(library);
    register_pooling_ops(library);
    register_attention_ops(library);
    register_embedded_host();
  });
}

}  // namespace mindtorch
