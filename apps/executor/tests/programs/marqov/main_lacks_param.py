# expect-error: main() does not accept 'depth'; it accepts theta, shots
# params: {"theta": 1, "depth": 3}
from marqov import Circuit


def main(theta, shots):
    return Circuit().rx(theta, 0)
