// The part of the package `qulacs-wasm-simulator-client` that is used: its own types need those of Emscripten.
declare module 'qulacs-wasm-simulator-client/lib/wasm/module.js' {
  export interface QulacsModule {
    getExceptionMessage(pointer: number): string
    getStateVectorWithExpectationValue(request: {
      circuitInfo: { circuit: (readonly (string | number)[])[][]; size: number }
      observableInfo: { observable: { operators: string[]; coefficient: number }[] }
    }): { stateVector: { size(): number; get(index: number): number; delete(): void } }
  }

  export default function load(options?: {
    locateFile?: (file: string) => string
    wasmBinary?: ArrayBuffer | Uint8Array
  }): Promise<QulacsModule>
}

declare module 'qulacs-wasm-simulator-client/lib/wasm/module.wasm?url' {
  /** The address of the file. */
  const url: string
  export default url
}
