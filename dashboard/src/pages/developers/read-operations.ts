export type Operation = {
  path: string
  summary: string
  parameters: readonly { name: string; place: 'path' | 'query'; required: boolean; hint: string | undefined }[]
}

type Parameter = { name: string; in: string; required?: boolean; description?: string }
type Document = {
  paths: Record<string, { get?: { summary?: string; parameters?: { $ref: string }[] } }>
  components: { parameters: Record<string, Parameter> }
}

/** Not a question and an answer: a stream, pages and redirects of a sign-in, and what only administrators read. */
const apart = /^\/v1\/(admin|auth|oauth|notifications\/stream)/

/** Every operation of the API that only reads, from its own document. */
export const readOperations = ({ paths, components }: Document): Operation[] =>
  Object.entries(paths).flatMap(([path, { get }]) => {
    if (!get || !path.startsWith('/v1/') || apart.test(path)) return []
    const named = (get.parameters ?? []).flatMap(({ $ref }) => components.parameters[$ref.split('/').at(-1) ?? ''] ?? [])
    const parameters = named.flatMap(({ name, in: place, required = false, description }) =>
      place === 'path' || place === 'query'
        ? [{ name, place, required: required || place === 'path', hint: description } as const]
        : [],
    )
    return [{ path, summary: get.summary ?? path, parameters }]
  })

export const addressOf = ({ path, parameters }: Operation, values: Readonly<Record<string, string>>): string => {
  const entered = (name: string): string => values[name]?.trim() ?? ''
  const filled = path.replaceAll(/\{(\w+)\}/g, (whole, name: string) => encodeURIComponent(entered(name)) || whole)
  const query = new URLSearchParams(
    parameters.filter(({ name, place }) => place === 'query' && entered(name) !== '').map(({ name }) => [name, entered(name)]),
  )
  return query.size === 0 ? filled : `${filled}?${query}`
}
