"""Programs of libraries for diffusion models, graphs and Gaussian processes, with tiny models. Each function returns what is profiled."""

import torch


def diffusers_unet():
    """Training, and sampling without gradients."""
    from diffusers import DDPMScheduler, UNet2DModel

    blocks = {"down_block_types": ("DownBlock2D", "AttnDownBlock2D"), "up_block_types": ("AttnUpBlock2D", "UpBlock2D")}
    sizes = {"sample_size": 8, "layers_per_block": 1, "block_out_channels": (8, 16), "norm_num_groups": 4, "attention_head_dim": 4}
    model, scheduler = UNet2DModel(**blocks, **sizes), DDPMScheduler(num_train_timesteps=10)
    optimizer = torch.optim.AdamW(model.parameters())
    images = torch.randn(2, 3, 8, 8)

    def step():
        noise, times = torch.randn_like(images), torch.randint(0, 10, (2,))
        predicted = model(scheduler.add_noise(images, noise, times), times).sample
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(predicted, noise).backward()
        optimizer.step()
        scheduler.set_timesteps(2)
        sample = noise
        with torch.no_grad():
            for time in scheduler.timesteps:
                sample = scheduler.step(model(sample, time).sample, time, sample).prev_sample

    return step


def geometric_graphs():
    """Graphs of different sizes, which the workers of a data loader join to batches in shared memory."""
    from torch_geometric.data import Data
    from torch_geometric.loader import DataLoader
    from torch_geometric.nn import GATConv, GCNConv, global_mean_pool

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two, self.out = GCNConv(4, 8), GATConv(8, 4, heads=2), torch.nn.Linear(8, 2)

        def forward(self, graphs):
            nodes = self.one(graphs.x, graphs.edge_index).relu()
            nodes = self.two(nodes, graphs.edge_index).relu()
            return self.out(global_mean_pool(nodes, graphs.batch))

    sizes = range(4, 12)
    graphs = [Data(x=torch.randn(n, 4), edge_index=torch.randint(0, n, (2, 3 * n)), y=torch.tensor([n % 2])) for n in sizes]
    loader = DataLoader(graphs, batch_size=4, num_workers=2)
    model = Net()
    optimizer = torch.optim.Adam(model.parameters())

    def epoch():
        for batch in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(batch), batch.y).backward()
            optimizer.step()

    return epoch


def gpytorch_conjugate_gradients():
    """Iterative solvers in functions of Python with derivatives of their own, whose arguments are tensors, numbers and objects."""
    import gpytorch

    class Process(gpytorch.models.ExactGP):
        def __init__(self, *data):
            super().__init__(*data)
            self.mean = gpytorch.means.ConstantMean()
            self.kernel = gpytorch.kernels.ScaleKernel(gpytorch.kernels.MaternKernel(nu=2.5) + gpytorch.kernels.RBFKernel())

        def forward(self, points):
            return gpytorch.distributions.MultivariateNormal(self.mean(points), self.kernel(points))

    points = torch.linspace(0, 1, 20)
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    process = Process(points, torch.sin(6 * points), likelihood)
    loss = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, process)

    def step():
        torch.manual_seed(0)  # how many iterations a solver takes depends on the numbers
        process.train()
        with gpytorch.settings.max_cholesky_size(1), gpytorch.settings.num_trace_samples(4):
            loss(process(points), process.train_targets).backward()
        process.eval()
        with torch.no_grad(), gpytorch.settings.fast_pred_var():
            likelihood(process(torch.linspace(0, 1, 7))).confidence_region()

    return step
