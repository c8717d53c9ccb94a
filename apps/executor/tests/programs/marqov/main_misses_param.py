# expect-error: main() needs 'theta'
from marqov import Circuit


def main(theta):
    return Circuit().rx(theta, 0)
