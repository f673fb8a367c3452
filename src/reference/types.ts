/** What a reader of the API document learns of an operation besides its schemas. */
export type OperationText = {
  /** A line: what it does. */
  summary: string
  /** When to call it, and why; what happens then. */
  text: string
  /** The name of the request body's schema, where the schema has none of its own. */
  body?: string
}
export type OperationTexts = Readonly<Record<string, OperationText>>

/** A group of operations. `features`: what their names begin with. */
export type Tag = { name: string; description: string; features: readonly string[] }

/** A closed list that appears in many places: named once, and referred to where exactly these values are allowed. */
export type Vocabulary = { name: string; values: readonly string[]; description: string }

/** The events about one kind of resource; `data` names the resource's schema. */
export type EventFamily = { name: string; types: readonly string[]; data: string; description: string }

/** `parameters`: those of the path, the query and the headers. `location`: where a redirect leads to. */
export type Example = {
  parameters?: Record<string, string>
  request?: unknown
  status: number
  location?: string
  response?: unknown
}
export type Examples = Readonly<Record<string, Example>>
