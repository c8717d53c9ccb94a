# expect: value {"ones": [0.0, 1.0]}
# params: {"angles": [0.0, 3.141592653589793]}
from marqov import Circuit


def main(angles, shots):
    ones = []
    for angle in angles:
        counts = device.run(Circuit().ry(angle, 0), shots)  # noqa: F821
        ones.append(counts.get("1", 0) / shots)
    return {"ones": ones}
