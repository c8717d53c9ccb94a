# expect: counts {"0": cos(0.35)**2, "1": sin(0.35)**2}
import math

from marqov import Circuit

circuit = Circuit().rx(0.7, 0).rz(math.pi / 3, 0).t(0).s(0)
