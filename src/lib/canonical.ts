/** JSON with sorted keys in every object: equal values have equal text, which can be hashed, compared and signed. */
export const canonicalJson = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  let text = ''
  for (const name of Object.keys(value).sort()) {
    const entry: unknown = Reflect.get(value, name)
    if (entry !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${canonicalJson(entry)}`
  }
  return `{${text}}`
}
