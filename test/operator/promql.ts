/** A series of a scrape. */
type Sample = { name: string; labels: Record<string, string>; value: number }
export type Vector = { labels: Record<string, string>; value: number }[]

const labelsOf = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]))

export const parseScrape = (text: string): Sample[] =>
  text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = /^([a-z_]\w*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    return name === undefined || value === undefined ? [] : [{ name, labels: labelsOf(labels), value: Number(value) }]
  })

const keyOf = (labels: Record<string, string>): string => JSON.stringify(Object.entries(labels).sort())
const only = (labels: Record<string, string>, names: readonly string[]) =>
  Object.fromEntries(names.flatMap((name) => (labels[name] === undefined ? [] : [[name, labels[name]]])))

const quantile = (q: number, buckets: { le: number; count: number }[]): number => {
  const sorted = buckets.sort((one, other) => one.le - other.le)
  const total = sorted.at(-1)?.count ?? 0
  if (total === 0) return Number.NaN
  const index = sorted.findIndex(({ count }) => count >= q * total)
  const { le = Number.NaN } = sorted[index] ?? {}
  return le === Number.POSITIVE_INFINITY ? (sorted[index - 1]?.le ?? Number.NaN) : le
}

/**
 * Evaluates an expression of `deploy/rules.yml` after two scrapes a minute apart, in the part of Prometheus's language used
 * there. A quantile is the upper end of its bucket.
 */
export const evaluate = (expression: string, before: readonly Sample[], after: readonly Sample[]): Vector => {
  const tokens = expression.match(/"[^"]*"|[A-Za-z_]\w*|\d+(?:\.\d+)?|=~|==|[{}()[\],=<>*/]|\S/g) ?? []
  let index = 0
  const next = () => tokens[index++] ?? ''
  const take = (token: string): boolean => tokens[index] === token && index++ >= 0
  const expect = (token: string) => {
    if (!take(token)) throw new Error(`${expression}: ${token} is missing before ${tokens[index]}`)
  }

  const selector = (name: string): { found: Vector; range: boolean } => {
    const matchers: ((labels: Record<string, string>) => boolean)[] = []
    if (take('{'))
      while (!take('}')) {
        const [label, operator, text] = [next(), next(), next().slice(1, -1)]
        const pattern = new RegExp(`^(?:${operator === '=~' ? text : text.replace(/[.*+?]/g, '\\$&')})$`)
        matchers.push((labels) => pattern.test(labels[label] ?? ''))
        take(',')
      }
    const pick = (samples: readonly Sample[]) =>
      samples.filter((one) => one.name === name && matchers.every((match) => match(one.labels)))
    const range = take('[')
    if (!range) return { found: pick(after), range }
    while (!take(']')) next()
    const earlier = new Map(pick(before).map(({ labels, value }) => [keyOf(labels), value]))
    return {
      found: pick(after).map(({ labels, value }) => ({ labels, value: value - (earlier.get(keyOf(labels)) ?? 0) })),
      range,
    }
  }

  const grouped = (vector: Vector, names: readonly string[], join: (values: number[]) => number): Vector =>
    [...Map.groupBy(vector, ({ labels }) => keyOf(only(labels, names)))].map(([, of]) => ({
      labels: only(of[0]?.labels ?? {}, names),
      value: join(of.map(({ value }) => value)),
    }))

  const atom = (): Vector => {
    const token = next()
    if (/^\d/.test(token)) return [{ labels: {}, value: Number(token) }]
    if (token === '(') {
      const inner = or()
      expect(')')
      return inner
    }
    if (['sum', 'count', 'max'].includes(token)) {
      const names: string[] = []
      if (take('by')) {
        expect('(')
        while (!take(')')) if (!take(',')) names.push(next())
      }
      expect('(')
      const inner = or()
      expect(')')
      if (token === 'count') return grouped(inner, names, (values) => values.length)
      return grouped(inner, names, (values) =>
        token === 'sum' ? values.reduce((one, other) => one + other, 0) : Math.max(...values),
      )
    }
    if (token === 'rate' || token === 'increase' || token === 'abs') {
      expect('(')
      const inner = or()
      expect(')')
      const scale = { rate: 1 / 60, increase: 1, abs: 1 }[token]
      return inner.map(({ labels, value }) => ({ labels, value: (token === 'abs' ? Math.abs(value) : value) * scale }))
    }
    if (token === 'histogram_quantile') {
      expect('(')
      const q = Number(next())
      expect(',')
      const inner = or()
      expect(')')
      const without = (labels: Record<string, string>) => Object.keys(labels).filter((name) => name !== 'le')
      return [...Map.groupBy(inner, ({ labels }) => keyOf(only(labels, without(labels))))].map(([, of]) => {
        const buckets = of.map(({ labels, value }) => ({
          le: labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le),
          count: value,
        }))
        return { labels: only(of[0]?.labels ?? {}, without(of[0]?.labels ?? {})), value: quantile(q, buckets) }
      })
    }
    return selector(token).found
  }

  const combine = (left: Vector, right: Vector, work: (one: number, other: number) => number | undefined): Vector =>
    left.flatMap(({ labels, value }) => {
      const other =
        right.find((one) => keyOf(one.labels) === keyOf(labels)) ??
        (right.length === 1 && keyOf(right[0]?.labels ?? {}) === '[]' ? right[0] : undefined)
      const result = other && work(value, other.value)
      return result === undefined ? [] : [{ labels, value: result }]
    })
  const product = (): Vector => {
    let left = atom()
    for (;;) {
      if (take('*')) left = combine(left, atom(), (one, other) => one * other)
      else if (take('/')) left = combine(left, atom(), (one, other) => one / other)
      else return left
    }
  }
  const comparison = (): Vector => {
    const left = product()
    if (take('>')) return combine(left, product(), (one, other) => (one > other ? one : undefined))
    if (take('<')) return combine(left, product(), (one, other) => (one < other ? one : undefined))
    if (take('==')) return combine(left, product(), (one, other) => (one === other ? one : undefined))
    return left
  }
  const or = (): Vector => {
    const left = comparison()
    return take('or') ? [...left, ...or()] : left
  }
  const answer = or()
  if (index < tokens.length) throw new Error(`${expression}: ${tokens.slice(index).join(' ')} was not read`)
  return answer
}
