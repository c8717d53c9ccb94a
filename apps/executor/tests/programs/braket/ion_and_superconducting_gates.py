# expect: width 3
from braket.circuits import Circuit

circuit = (
    Circuit().gpi(0, 0.1).gpi2(1, 0.2).ms(0, 1, 0.1, 0.2, 0.3).iswap(1, 2).xy(0, 2, 0.7).pswap(0, 1, 0.4)
    .prx(2, 0.3, 0.4).cphaseshift01(0, 1, 0.5).ecr(0, 1).cswap(0, 1, 2).ccnot(2, 1, 0)
)
