# expect: counts {"0": cos(0.25)**2, "1": sin(0.25)**2}
import numpy as np
from marqov import Circuit

angles = np.linspace(0, 1, 3)
circuit = Circuit().ry(angles[1], np.int64(0))
