/** Polyfill of `Symbol.dispose`, which `using` needs. It must exist before the first class is defined. */
if ((Symbol.dispose as symbol | undefined) === undefined)
  Object.defineProperty(Symbol, 'dispose', { value: Symbol.for('Symbol.dispose') });

export {};
