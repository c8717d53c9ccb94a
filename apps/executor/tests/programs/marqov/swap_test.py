# expect: counts {"000": 0.5, "100": 0.5}
# expect-warning: several circuits were found; 'compare', assigned last
from marqov import Circuit

plus = Circuit().h(0)
minus = Circuit().x(0).h(0)
compare = Circuit().h(0).h(1).swap(1, 2).swap(1, 2).h(1).z(2)
