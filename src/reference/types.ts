/** A group of operations. `features`: the first parts of their names. */
export type Tag = { name: string; description: string; features: readonly string[] }

/** A closed list that occurs in many places: it gets one name, and is referred to where exactly these values are allowed. */
export type Vocabulary = { name: string; values: readonly string[]; description: string }

/** The events about one kind of resource; `data` names the resource's schema. */
export type EventFamily = { name: string; types: readonly string[]; data: string; description: string }

/** `parameters`: those of the path, the query and the headers. `location`: the target of a redirect. */
export type Example = {
  parameters?: Record<string, string>
  request?: unknown
  status: number
  location?: string
  response?: unknown
}
export type Examples = Readonly<Record<string, Example>>
