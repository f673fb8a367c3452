/** Why the service could not start, in one sentence that says what to change. Printed without a stack. */
export class StartupError extends Error {
  constructor(sentence: string, options: { cause?: unknown } = {}) {
    super(sentence, { cause: options.cause })
    this.name = 'StartupError'
  }
}
