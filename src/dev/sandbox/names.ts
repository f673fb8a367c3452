import { z } from 'zod'
import type { RailName } from '../../lib/rail-names.ts'
import { keepDocument } from './store.ts'

type NameRules = { forName: (target: { rail: RailName; party: string }) => { effect: NameFault; delay_ms: number } | undefined }

/** The name that the provider gives; null where the number has no holder. `cut`: the connection is reset, or the answer comes late. */
export const nameOf = (
  provider: { rules: NameRules; names: Names },
  rail: RailName,
  party: string,
): { name: string | null; lost: boolean; delayMs: number } => {
  const rule = provider.rules.forName({ rail, party })
  const fault = rule?.effect ?? provider.names.faultOf(party)
  const holder = provider.names.of(party)
  return {
    name: holder === null && fault !== 'name_ok' && fault !== 'name_other' ? null : disturbed(holder ?? '', fault),
    lost: fault === 'name_outage',
    delayMs: rule?.effect === 'name_late' ? rule.delay_ms : 0,
  }
}

/** What goes wrong with the answer to a query for a name. */
export const nameFaults = ['name_late', 'name_masked', 'name_swapped', 'name_ok', 'name_other', 'name_outage'] as const
export type NameFault = (typeof nameFaults)[number]

const wanjiru = 'WANJIRU NJERI KAMAU'

/** Numbers with a holder. Every other number has none, until one is set on the control page. */
const holders: Readonly<Record<string, string>> = {
  '254722100001': wanjiru,
  '254722100002': 'OTIENO OKOTH ODHIAMBO',
  '254722100003': 'ACHIENG ATIENO OMONDI',
  '300100': 'OTIENO HARDWARE LTD',
  '5300100': 'MAMA NGINA GROCERS',
  '1300100100': wanjiru,
  '254722100011': wanjiru,
  '254722100012': wanjiru,
  '254722100013': wanjiru,
  '254722100014': wanjiru,
  '254722100015': wanjiru,
}

/** Numbers of which each query goes wrong in the same way. */
const faultOf: Readonly<Record<string, NameFault>> = {
  '254722100011': 'name_masked',
  '254722100012': 'name_swapped',
  '254722100013': 'name_ok',
  '254722100014': 'name_other',
  '254722100015': 'name_outage',
}

export const Holder = z.strictObject({
  /** A phone, paybill, till or account. */
  party: z.string().min(1).max(40),
  /** Null: it has no holder. */
  name: z.string().trim().min(1).max(120).nullable(),
})
const Stored = z.record(z.string(), z.string().nullable())

/** Who each number belongs to. */
export const createNames = (folder?: string) => {
  const kept = keepDocument<z.output<typeof Stored>>(folder, 'names.json', {}, (stored) => Stored.parse(stored))
  return {
    of: (party: string): string | null => {
      const set = kept.read()
      if (Object.hasOwn(set, party)) return set[party] ?? null
      return Object.hasOwn(holders, party) ? (holders[party] ?? null) : null
    },
    set: ({ party, name }: z.output<typeof Holder>): void => kept.write({ ...kept.read(), [party]: name }),
    faultOf: (party: string): NameFault | undefined => (Object.hasOwn(faultOf, party) ? faultOf[party] : undefined),
  }
}

export type Names = ReturnType<typeof createNames>

const masked = (word: string): string => `${word.charAt(0)}${'*'.repeat(Math.max(1, word.length - 1))}`

/** The name as a provider gives it under a fault. */
export const disturbed = (name: string, fault: NameFault | undefined): string => {
  if (fault === 'name_ok') return 'OK'
  if (fault === 'name_other') return 'JANE DOE'
  if (fault === 'name_swapped') return name.split(' ').toReversed().join(' ')
  return fault === 'name_masked' ? name.split(' ').map(masked).join(' ') : name
}

/** The first name in full, the others hidden: what M-PESA gives of a person. */
export const subscriber = (name: string): { firstName: string; middleName: string; lastName: string } => {
  const [first = '', ...others] = name.split(' ')
  const hidden = others.map((word) => (word.includes('*') ? word : masked(word)))
  return { firstName: first, middleName: hidden.slice(0, -1).join(' '), lastName: hidden.at(-1) ?? '' }
}
