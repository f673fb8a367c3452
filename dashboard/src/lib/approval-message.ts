import { isRail, railFacts } from './rails.ts'

/** The lines of the text that people need, with the pages' labels. The page shows the whole text word for word below them. */
const labels: Readonly<Record<string, string>> = {
  Beneficiary: 'Beneficiary',
  Destination: 'Destination',
  'Account reference': 'Account reference',
  For: 'Purpose',
  'Requested by': 'Requested by',
  Workspace: 'Workspace',
}

/** "PESALINK *********6523" → "PesaLink to a bank, *********6523" */
const readable = (name: string, value: string): string => {
  const [rail = '', ...mask] = value.split(' ')
  return name === 'Destination' && isRail(rail) ? `${railFacts[rail].label}, ${mask.join(' ')}` : value
}

/** What a batch's text says about its items. */
export const readBatchMessage = (message: string): { firsts: string; unusual: string } => {
  const after = (label: string) =>
    message
      .split('\n')
      .find((line) => line.startsWith(`${label}: `))
      ?.slice(label.length + 2) ?? '0'
  return { firsts: after('Payees never paid before'), unusual: after('Amounts far from the last payment') }
}

export type ReadMessage = { amount: string | null; beneficiary: string | null; facts: (readonly [name: string, value: string])[] }

/** Reads the facts out of the text that is signed, so that what the page shows is what is signed. */
export const readMessage = (message: string): ReadMessage => {
  const lines = message.split('\n').flatMap((line) => {
    const match = /^([A-Z][a-z ]+): (.+)$/.exec(line)
    return match?.[1] && match[2] ? [[match[1], match[2]] as const] : []
  })
  const textOf = (label: string) => lines.find(([name]) => name === label)?.[1] ?? null
  return {
    amount: textOf('Amount'),
    beneficiary: textOf('Beneficiary'),
    facts: lines.flatMap(([name, value]) => {
      const label = labels[name]
      return label ? [[label, readable(name, value)] as const] : []
    }),
  }
}
