// A package that `quantum-circuit` needs looks for `global`, else for `window`, and a worker has neither name.
Object.assign(globalThis, { global: globalThis })
