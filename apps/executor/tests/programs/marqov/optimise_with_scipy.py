# expect: value {"theta": 3.1416}
# expect-warning: shots, engine, engine_version and optimization_level are null
from marqov import Circuit
from scipy.optimize import minimize_scalar


def cost(theta):
    amplitudes = Circuit().ry(theta, 0).simulate().tensor.ravel()
    return float(abs(amplitudes[0]) ** 2 - abs(amplitudes[1]) ** 2)


def main():
    best = minimize_scalar(cost, bounds=(0, 6), method="bounded")
    return {"theta": round(best.x, 4)}
