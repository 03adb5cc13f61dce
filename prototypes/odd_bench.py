import sys, torch, math
sys.path.insert(0, ".tune")
import torch.nn.functional as F
from odd_rows import *
from kernels.benchmark import alternate, capture, quantiles
from kernels.softmax import softmax_forward, softmax_backward
from kernels.norm import norm_forward
from kernels.norm_backward import norm_tile_backward
torch.cuda.set_stream(torch.cuda.Stream())
def race(label, fs):
    ok = {}
    for k, f in fs.items():
        try: f(); f(); ok[k] = capture(f)
        except Exception as e: print("   ", k, type(e).__name__, str(e)[:80])
    ts = alternate(list(ok.values()), 0.3)
    print(label, {k: round(quantiles(t)[1] * 1e3, 2) for k, t in zip(ok, ts)}, flush=True)
bf, f4 = torch.bfloat16, torch.float32
for dt, r, c in [(bf, 8192, 5001), (bf, 8192, 781), (bf, 65536, 781), (f4, 1823, 781), (bf, 4096, 9001), (f4, 4096, 9001), (f4, 8192, 5001), (bf, 8192, 3001)]:
    V = 16 // dt.itemsize; B = 1 << (c - 1).bit_length()
    x = torch.randn(r, c, device="cuda").to(dt); y = torch.softmax(x, 1); dy = torch.randn_like(x); o = torch.empty_like(x); dx = torch.empty_like(x)
    o.zero_(); softmax_fwd[(r,)](x, o, r, c, ROWS=1, BLOCK=B, V=V); torch.testing.assert_close(o, y)
    softmax_bwd[(r,)](y, dy, dx, r, c, ROWS=1, BLOCK=B, V=V)
    torch.testing.assert_close(dx, torch.ops.aten._softmax_backward_data(dy, y, -1, dt), rtol=2e-2, atol=1e-4)
    ways = [(R, w) for R in ((1, 2, 4) if B <= 1024 else (1,)) for w in (1, 2, 4, 8, 16, 32) if 256 <= R * B // w <= 2048]
    race(f"softmax fwd {dt} {r}x{c}", {"ours": lambda: softmax_forward(x, 1)} | {f"r{R}w{w}": lambda R=R, w=w: softmax_fwd[((r + R - 1) // R,)](x, o, r, c, ROWS=R, BLOCK=B, V=V, num_warps=w) for R, w in ways})
    race(f"softmax bwd {dt} {r}x{c}", {"ours": lambda: softmax_backward(y, dy, 1)} | {f"r{R}w{w}m{m}": lambda R=R, w=w, m=m: softmax_bwd[((r + R - 1) // R,)](y, dy, dx, r, c, ROWS=R, BLOCK=B, V=V, num_warps=w, maxnreg=m) for R, w in ways for m in (None, 64)})
for dt, r, c in [(bf, 8192, 5001), (f4, 8192, 5001), (bf, 65536, 781), (bf, 4096, 9001)]:
    V = 16 // dt.itemsize; B = 1 << (c - 1).bit_length()
    x = torch.randn(r, c, device="cuda").to(dt); dy = torch.randn_like(x); o = torch.empty_like(x); dx = torch.empty_like(x)
    w, b = torch.randn(2, c, device="cuda").to(dt)
    w, b = w.clone(), b.clone()
    for cen in (True, False):
        bb = b if cen else None
        ref = F.layer_norm(x.float(), (c,), w.float(), b.float()) if cen else F.rms_norm(x.float(), (c,), w.float(), 1e-5)
        norm_fwd[(r,)](x, w, bb, o, r, c, 1e-5, CENTERED=cen, ROWS=1, BLOCK=B, V=V); torch.testing.assert_close(o.float(), ref, rtol=2e-2, atol=2e-2)
        o.zero_(); norm_fwd_kept[(528,)](x, w, bb, o, r, c, 1e-5, CENTERED=cen, BLOCK=B, V=V, STAGES=2, num_warps=8); torch.testing.assert_close(o.float(), ref, rtol=2e-2, atol=2e-2)
        fs = {"ours": lambda: norm_forward(x, w, bb, 1e-5, cen)[0]}
        for nw in (4, 8, 16):
            fs[f"once w{nw}"] = lambda nw=nw: norm_fwd[(r,)](x, w, bb, o, r, c, 1e-5, CENTERED=cen, ROWS=1, BLOCK=B, V=V, num_warps=nw)
            for per in (1, 2, 4):
                for S in (1, 2, 3):
                    fs[f"kept w{nw} p{per} s{S}"] = lambda nw=nw, per=per, S=S: norm_fwd_kept[(132 * per // V * V,)](x, w, bb, o, r, c, 1e-5, CENTERED=cen, BLOCK=B, V=V, STAGES=S, num_warps=nw)
        race(f"norm fwd {cen} {dt} {r}x{c}", fs)
        mean = x.float().mean(1); rstd = torch.rsqrt((x.float().var(1, correction=0) if cen else x.float().square().mean(1)) + 1e-5)
        dw, db = torch.zeros(2, 264, c, device="cuda")
        fs = {"ours": lambda: norm_tile_backward(x, w, dy, mean if cen else None, rstd, dx)}
        for nw in (8, 16, 32):
            for per in (1, 2):
                for S in (1, 2, 3):
                    fs[f"kept w{nw} p{per} s{S}"] = lambda nw=nw, per=per, S=S: norm_bwd[(132 * per // V * V,)](x, w, dy, mean, rstd, dx, dw, db, r, c, CENTERED=cen, BLOCK=B, V=V, STAGES=S, num_warps=nw)
        want = fs["ours"](); dx0 = dx.clone(); dx.zero_(); fs["kept w16 p1 s2"]()
        torch.testing.assert_close(dx, dx0, rtol=2e-2, atol=2e-2)
        torch.testing.assert_close(dw.sum(0), want[0].float(), rtol=1e-3, atol=1e-1)
        race(f"norm bwd {cen} {dt} {r}x{c}", fs)
