/** What the API document says about an operation besides its schemas. A feature's texts stand in its `operations.ts`. */
export type OperationText = {
  /** One line: what it does. */
  summary: string
  /** When to call it, and why; what happens then. */
  text: string
  /** The name of the request body's schema, if the schema has none of its own. */
  body?: string
}
export type OperationTexts = Readonly<Record<string, OperationText>>
