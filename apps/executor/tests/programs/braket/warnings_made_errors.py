# expect: width 4
import warnings; warnings.simplefilter("error")
import numpy as np; np.seterr(all="raise")
from braket.circuits import Circuit
circuit = Circuit().rx(2, 0.3, control=[0,1]).h(0).iswap(0,1).rz(3,0.1,control=range(3), power=0.5)
