"""Programs for a GPU, as users of several libraries write them, with tiny models and random weights. Each function returns one step."""

import torch


def _training(model, batch, loss_of, optimizer=None, precision=None):
    optimizer = optimizer or torch.optim.AdamW(model.parameters())

    def step():
        with torch.autocast("cuda", precision or torch.float16, enabled=precision is not None):
            loss = loss_of(model(**batch))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def transformers_gpt2_in_bfloat16():
    from transformers import GPT2Config, GPT2LMHeadModel

    model = GPT2LMHeadModel(GPT2Config(vocab_size=128, n_positions=64, n_embd=64, n_layer=2, n_head=4, resid_pdrop=0, embd_pdrop=0)).cuda()
    tokens = torch.randint(0, 128, (4, 64), device="cuda")
    return _training(model, {"input_ids": tokens, "labels": tokens}, lambda out: out.loss, precision=torch.bfloat16)


def transformers_llama_with_checkpointing():
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=128, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2
    )
    model = LlamaForCausalLM(config).cuda()
    model.gradient_checkpointing_enable()
    tokens = torch.randint(0, 128, (2, 32), device="cuda")
    return _training(model, {"input_ids": tokens, "labels": tokens, "use_cache": False}, lambda out: out.loss)


def transformers_generate():
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(vocab_size=128, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4)
    model = LlamaForCausalLM(config).cuda().half().eval()
    prompt = torch.randint(3, 128, (2, 8), device="cuda")
    options = {"min_new_tokens": 8, "max_new_tokens": 8, "do_sample": False, "pad_token_id": 0}
    return lambda: model.generate(prompt, attention_mask=torch.ones_like(prompt), **options)


def torchvision_resnet_with_a_scaler():
    from torchvision.models import resnet18

    model = resnet18(num_classes=10).cuda().to(memory_format=torch.channels_last)
    optimizer, scaler = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9), torch.amp.GradScaler("cuda")
    images, labels = torch.randn(4, 3, 64, 64), torch.randint(0, 10, (4,))

    def step():
        x = images.pin_memory().cuda(non_blocking=True).contiguous(memory_format=torch.channels_last)
        with torch.autocast("cuda", torch.float16):
            loss = torch.nn.functional.cross_entropy(model(x), labels.cuda())
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()

    return step


def lightning_fit():
    import pytorch_lightning

    class Regression(pytorch_lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(8, 1)

        def training_step(self, batch, index):
            return self.layer(batch[0]).square().mean()

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters())

    data = torch.utils.data.TensorDataset(torch.randn(8, 8))
    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "enable_model_summary": False}
    model = Regression()

    def fit():
        loader = torch.utils.data.DataLoader(data, batch_size=4)
        pytorch_lightning.Trainer(max_steps=2, accelerator="gpu", devices=1, **quiet).fit(model, loader)

    return fit


def torch_geometric_gcn():
    from torch_geometric.nn import GCNConv

    layers = torch.nn.ModuleList([GCNConv(16, 32), GCNConv(32, 4)]).cuda()
    x, edges = torch.randn(64, 16, device="cuda"), torch.randint(0, 64, (2, 256), device="cuda")
    return lambda: layers[1](layers[0](x, edges).relu(), edges).sum().backward()


def cupy_beside_torch():
    import cupy

    x = torch.ones(1 << 16, device="cuda")
    scale = cupy.ElementwiseKernel("float32 a", "float32 b", "b = 3 * a", "times_three")

    def step():
        y = scale(cupy.asarray(x))
        torch.as_tensor(y, device="cuda").add_(1).sum()

    return step


def triton_kernel():
    from triton_sample import add

    x = torch.ones(1 << 16, device="cuda")
    return lambda: add(x, x).mul_(2)


def compiled_for_inference():
    model = torch.nn.Sequential(torch.nn.Linear(128, 128), torch.nn.GELU(), torch.nn.LayerNorm(128), torch.nn.Softmax(-1)).cuda()
    compiled = torch.compile(model, mode="max-autotune-no-cudagraphs")
    x = torch.randn(32, 128, device="cuda")

    def step():
        with torch.no_grad():
            compiled(x)

    return step


def fused_optimizer_and_clipping():
    model = torch.nn.Sequential(*(torch.nn.Linear(64, 64) for _ in range(4))).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    x = torch.randn(16, 64, device="cuda")

    def step():
        model(x).square().mean().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    return step


def library_calls():
    """Calls that go through cuSOLVER, cuFFT, cuSPARSE, CUB and Thrust."""
    x = torch.randn(64, 64, device="cuda")
    sparse = (x > 1).float().to_sparse_csr()
    index = torch.randint(0, 64, (256,), device="cuda")

    def step():
        torch.linalg.svdvals(x)
        torch.linalg.cholesky(x @ x.T + 64 * torch.eye(64, device="cuda"))
        torch.fft.rfft2(x).abs().sum().item()
        sparse @ x
        torch.unique(index)
        x.sort(dim=0)
        x.index_add(0, index, torch.randn(256, 64, device="cuda"))
        torch.multinomial(x.abs(), 4)

    return step


def threads_with_streams():
    import threading

    def work():
        with torch.cuda.stream(torch.cuda.Stream()):
            x = torch.ones(1 << 12, device="cuda")
            for _ in range(20):
                x = x * 2
            x.sum().item()

    def step():
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return step


def custom_autograd_function():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            context.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(context, gradient):
            (x,) = context.saved_tensors
            return 2 * x * gradient

    x = torch.randn(64, 64, device="cuda", requires_grad=True)
    return lambda: torch.utils.checkpoint.checkpoint(Square.apply, x, use_reentrant=False).sum().backward()


def data_loader_with_workers():
    data = torch.utils.data.TensorDataset(torch.randn(16, 32), torch.randint(0, 4, (16,)))
    loader = torch.utils.data.DataLoader(data, batch_size=4, num_workers=2, pin_memory=True, persistent_workers=True)
    model = torch.nn.Linear(32, 4).cuda()

    def step():
        for x, y in loader:
            torch.nn.functional.cross_entropy(model(x.cuda(non_blocking=True)), y.cuda(non_blocking=True)).backward()

    return step
