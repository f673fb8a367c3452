import type { Rule } from './rules.ts'
import type { Source } from './source.ts'

/**
 * The files that other features may import besides a feature's service: schemas, presentations, and queries, which only read. Any
 * other import of one feature by another is a door between the two, and is listed here.
 */
const publicFile = /\/([a-z-]+-)?(service|schema|present|queries)\.ts$/

/** [feature, file]: the feature may import that file of another feature. Each door is for one feature only. */
const doors: readonly (readonly [from: string, to: string])[] = [
  // Attempts, their orders and their evidence: below all sending, and below all endings by evidence.
  ['exceptions', 'attempts/attempt.ts'],
  ['payments', 'attempts/attempt.ts'],
  ['sending', 'attempts/attempt.ts'],
  ['topups', 'attempts/attempt.ts'],
  // A due record is checked once more by its feature, and sent; evidence ends it there.
  ['sending', 'payments/evaluation/authority.ts'],
  ['sending', 'payments/prepare-send.ts'],
  ['sending', 'payments/settle.ts'],
  ['sending', 'topups/outcome.ts'],
  ['sending', 'topups/send.ts'],
  // Providers' messages are kept byte for byte in one place, even unreadable ones; a deposit's may be evidence for a prompt.
  ['deposits', 'sending/deliveries.ts'],
  ['deposits', 'sending/evidence.ts'],
  ['deposits', 'topups/outcome.ts'],
  // Later findings about attempts and payments, from a statement or a person.
  ['exceptions', 'sending/evidence.ts'],
  ['exceptions', 'payments/settle.ts'],
  ['exceptions', 'payments/change.ts'],
  // The order of a payment whose attempt was in lost writes.
  ['exceptions', 'payments/lost-writes.ts'],
  // A provider's list or statement that names a deposit counts like its notification. Money in suspense goes to its intended
  // account, as its deposit would have.
  ['exceptions', 'deposits/deposit.ts'],
  ['exceptions', 'topups/outcome.ts'],
  // Grants' limits and ends: needed for creating grants, and for payments.
  ['oauth', 'delegation/control-rules.ts'],
  ['identity', 'delegation/control-rules.ts'],
  // Nonces are signed at sign-in, and with a mandate.
  ['mandates', 'identity/sign-in/nonces.ts'],
  ['payments', 'mandates/for-payments.ts'],
  ['payments', 'mandates/end.ts'],
  // Approvals are pushed to browsers.
  ['payments', 'push/send.ts'],
  // A simulation decides like a payment, over the same state with a policy that is not stored.
  ['simulation', 'mandates/for-payments.ts'],
  ['simulation', 'policies/rules.ts'],
  ['simulation', 'payments/create/decide.ts'],
  ['simulation', 'payments/create/preconditions.ts'],
  ['simulation', 'payments/evaluation/context.ts'],
  ['simulation', 'payments/evaluation/past.ts'],
  ['simulation', 'payments/evaluation/state.ts'],
  // A credential works inside a membership; freezing an account publishes its workspaces' status.
  ['delegation', 'workspaces/membership.ts'],
  ['identity', 'workspaces/membership.ts'],
]

const inFeature = /^modules\/([^/]+)\/(.+)$/

type Step = { path: string; from: string; feature: string; to: string }

/** Every import from one feature into another, including types. Files beside the features belong to none of them. */
const steps = (files: readonly Source[]): Step[] =>
  files.flatMap(({ path, imports }) => {
    const from = inFeature.exec(path)?.[1]
    return imports.flatMap(({ to }) => {
      const feature = inFeature.exec(to)?.[1]
      return from && feature && from !== feature ? [{ path, from, feature, to: to.slice('modules/'.length) }] : []
    })
  })

const isDoor = ({ from, to }: Step) => doors.some((door) => door[0] === from && door[1] === to)

const features: Rule = {
  name: 'features meet at their service, schema, presentation and queries, or at a door between these two',
  check: (files) =>
    steps(files).flatMap((step) =>
      publicFile.test(`/${step.to}`) || isDoor(step) ? [] : [`${step.path} imports modules/${step.to}`],
    ),
}

/** The files that bring features together. Other files beside the features' folders are below them: ports and shared parts. */
const assembly = ['modules/routes.ts', 'modules/jobs.ts']

const isBeside = (path: string): boolean => path.startsWith('modules/') && !inFeature.test(path)

const besideFeatures: Rule = {
  name: 'beside the features, the assembly stands above them and everything else below them, types included',
  check: (files) =>
    files.flatMap(({ path, imports }) =>
      imports.flatMap(({ to }) => {
        const fromBelow =
          isBeside(path) && !assembly.includes(path) && to.startsWith('modules/') && (!isBeside(to) || assembly.includes(to))
        const toAbove = inFeature.test(path) && assembly.includes(to)
        return fromBelow || toAbove ? [`${path} imports ${to}`] : []
      }),
    ),
}

/** Doors that no import uses: remove them from the list. */
export const unusedDoors = (files: readonly Source[]): string[] => {
  const used = new Set(steps(files).map(({ from, to }) => `${from} → ${to}`))
  return doors.map(([from, to]) => `${from} → ${to}`).filter((door) => !used.has(door))
}

/** The features that each feature imports, in alphabetical order. */
const featureGraph = (files: readonly Source[]): Map<string, string[]> => {
  const graph = new Map<string, Set<string>>()
  for (const { path } of files) {
    const feature = inFeature.exec(path)?.[1]
    if (feature && !graph.has(feature)) graph.set(feature, new Set())
  }
  for (const { from, feature } of steps(files)) graph.get(from)?.add(feature)
  return new Map([...graph].sort().map(([from, to]) => [from, [...to].sort()]))
}

/** The graph in docs/features.md's form. */
export const drawnGraph = (files: readonly Source[]): string =>
  [...featureGraph(files)]
    .flatMap(([from, to]) => (to.length === 0 ? [`  ${from}`] : to.map((feature) => `  ${from} --> ${feature}`)))
    .join('\n')

/** A folder inside a feature. A file beside these folders is a part by itself. Routes assemble the parts and are none. */
const partOf = (path: string): string | undefined => {
  const [, feature, inside] = inFeature.exec(path) ?? []
  if (!feature || !inside || /routes\.ts$/.test(inside)) return undefined
  return `${feature}/${inside.includes('/') ? inside.slice(0, inside.lastIndexOf('/')) : inside}`
}

const isFolder = (part: string): boolean => !part.endsWith('.ts')

/** The parts of its own feature that each part imports. */
const partGraph = (files: readonly Source[]): Map<string, string[]> => {
  const graph = new Map<string, Set<string>>()
  for (const { path, imports } of files) {
    const from = partOf(path)
    if (!from) continue
    const to = graph.get(from) ?? new Set()
    for (const each of imports) {
      const part = partOf(each.to)
      if (part && part !== from && part.split('/')[0] === from.split('/')[0]) to.add(part)
    }
    graph.set(from, to)
  }
  return new Map([...graph].sort().map(([from, to]) => [from, [...to].sort()]))
}

/** The parts in docs/features.md's form: folders only. */
export const listedParts = (files: readonly Source[]): string =>
  [...partGraph(files)]
    .filter(([from]) => isFolder(from))
    .map(
      ([from, to]) =>
        `| \`${from}\` | ${to
          .filter(isFolder)
          .map((part) => `\`${part}\``)
          .join(', ')} |`,
    )
    .join('\n')

const cyclesIn = (graph: ReadonlyMap<string, readonly string[]>): string[][] => {
  const done = new Set<string>()
  const cycles: string[][] = []
  const visit = (name: string, trail: readonly string[]): void => {
    if (trail.includes(name)) cycles.push([...trail.slice(trail.indexOf(name)), name])
    else if (!done.has(name)) {
      for (const next of graph.get(name) ?? []) visit(next, [...trail, name])
      done.add(name)
    }
  }
  for (const name of graph.keys()) visit(name, [])
  return cycles
}

const findFeatureCycles = (files: readonly Source[]): string[] =>
  cyclesIn(featureGraph(files)).map((cycle) => {
    const imports = steps(files).filter((step) => cycle[cycle.indexOf(step.from) + 1] === step.feature)
    return [cycle.join(' → '), ...imports.map(({ path, to }) => `  ${path} imports modules/${to}`)].join('\n')
  })

const findPartCycles = (files: readonly Source[]): string[] =>
  cyclesIn(partGraph(files)).map((cycle) => {
    const crosses = ({ path }: Source, to: string) =>
      cycle[cycle.indexOf(partOf(path) ?? '') + 1] === partOf(to) && cycle.includes(partOf(path) ?? '')
    const imports = files.flatMap((file) =>
      file.imports.filter(({ to }) => crosses(file, to)).map(({ to }) => `  ${file.path} imports ${to}`),
    )
    return [cycle.join(' → '), ...imports].join('\n')
  })

const acyclicParts: Rule = { name: 'the parts of a feature form no cycle', check: findPartCycles }

const acyclicFeatures: Rule = { name: 'features form no cycle', check: findFeatureCycles }

const pure = /^(policy|lib|rails)\/|^modules\/.*rules\.ts$/
/** The rails talk to their providers: they may use the network, and none of our code with state. */
const onTheNetwork = /^npm:(node:)?(http|https|http2|net|tls|dns|dgram|child_process)(\/|$)|^npm:(undici|ioredis)$/
/** Tables, transitions and the expression of an index (email-key.ts) are declarations, and so is the wire. */
const impure =
  /^(db\/(?!tables\/|transitions\.ts$|email-key\.ts$)|ledger\/|events\/|jobs\/|http\/(?!wire\.ts$)|config\.ts$|app)|^npm:(pg|drizzle-orm\/node-postgres|fastify|@fastify\/.+)$/

const reaches = (to: string, from: string): boolean => impure.test(to) || (!from.startsWith('rails/') && onTheNetwork.test(to))

/**
 * The path from a file to the first import that it must not reach. Behind its own imports, type imports are ignored, because they
 * run nothing. But a file that names a transaction's type takes a transaction, and can do anything with it.
 */
const wayToImpurity = (file: Source, known: ReadonlyMap<string, Source>): string | undefined => {
  const seen = new Set([file.path])
  const ways: { path: string; way: string }[] = [{ path: file.path, way: file.path }]
  for (const { path, way } of ways) {
    for (const { to, typeOnly } of known.get(path)?.imports ?? []) {
      if (typeOnly && path !== file.path && to !== 'db/client.ts') continue
      if (reaches(to, file.path)) return `${way} → ${to}`
      if (typeOnly || seen.has(to)) continue
      seen.add(to)
      ways.push({ path: to, way: `${way} → ${to}` })
    }
  }
  return undefined
}

const transitivePurity: Rule = {
  name: 'policy, rails, rules and lib reach no database, ledger, events, jobs or HTTP by any path of imports',
  check: (files) => {
    const known = new Map(files.map((file) => [file.path, file]))
    return files.filter(({ path }) => pure.test(path)).flatMap((file) => wayToImpurity(file, known) ?? [])
  },
}

export const featureRules = {
  features,
  besideFeatures,
  acyclicFeatures,
  acyclicParts,
  transitivePurity,
} satisfies Record<string, Rule>
