/** Not every browser has the symbol by which `using` disposes; it must be there before the first class is defined. */
if ((Symbol.dispose as symbol | undefined) === undefined)
  Object.defineProperty(Symbol, 'dispose', { value: Symbol.for('Symbol.dispose') });

export {};
