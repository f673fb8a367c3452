import type { Payments } from '../client.ts'
import { payeeText } from './amount.ts'
import { UsageError } from './errors.ts'
import type { Terminal } from './terminal.ts'

const most = 100

/**
 * Finds a payee by id or name. A partial name requires the person's confirmation. Several matches are an error, unless all have the
 * whole name and are paid at the same number: the newest is then taken.
 */
export const payeeIdOf = async (terminal: Terminal, client: Payments, text: string): Promise<string> => {
  if (text.startsWith('ben_')) return text
  const { data, next_cursor: isMore } = await client.beneficiaries.list({ q: text, limit: most, status: 'active' }).page()
  const exact = data.filter(({ display_name }) => display_name.toLowerCase() === text.trim().toLowerCase())
  const [only, ...more] = exact.length > 0 ? exact : data
  if (!only) throw new UsageError(`No payee is called "${text}": payments payees lists them, payments payees add adds one.`)
  const isSame = async (): Promise<boolean> => {
    // A namesake with another number may be on the next page.
    if (isMore !== null) return false
    const same = await client.beneficiaries.list({ same_number_as: only.id, limit: most }).page()
    return more.every(({ id }) => same.data.some((payee) => payee.id === id))
  }
  if (more.length > 0 && !(exact.length > 0 && (await isSame()))) {
    const found = [only, ...more].map((payee) => `\n  ${payee.id}  ${payeeText(payee)}`)
    throw new UsageError(`${found.length} payees match "${text}". Give the id of one:${found.join('')}`)
  }
  if (exact.length > 0 || (await terminal.ask?.(`Do you mean ${payeeText(only)}?`))) return only.id
  throw new UsageError(`No payee is called "${text}". For ${payeeText(only)}, give the whole name or ${only.id}.`)
}
