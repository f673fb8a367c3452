import { z } from 'zod'
import type { RailName } from '../../lib/rail-names.ts'
import type { EffectOn, Rules } from './rules.ts'
import { keepDocument } from './store.ts'

const wanjiru = 'WANJIRU NJERI KAMAU'

/** Numbers whose name lookup always shows the same fault. */
const faults = new Map<string, EffectOn<'name'>>([
  ['254722100011', 'name_masked'],
  ['254722100012', 'name_swapped'],
  ['254722100013', 'name_ok'],
  ['254722100014', 'name_other'],
  ['254722100015', 'name_outage'],
])

/** Numbers that have a holder. Other numbers have one only after it is set on the control page. */
const holders = {
  ...Object.fromEntries([...faults.keys()].map((party) => [party, wanjiru])),
  '254722100001': wanjiru,
  '254722100002': 'OTIENO OKOTH ODHIAMBO',
  '254722100003': 'ACHIENG ATIENO OMONDI',
  '300100': 'OTIENO HARDWARE LTD',
  '5300100': 'MAMA NGINA GROCERS',
  '1300100100': wanjiru,
}

export const Holder = z.strictObject({
  /** A phone, paybill, till or bank account. */
  party: z.string().min(1).max(40),
  /** Null: the number has no holder. */
  name: z.string().trim().min(1).max(120).nullable(),
})
const Stored = z.record(z.string(), z.string().nullable())

const maskWord = (word: string): string => `${word.charAt(0)}${'*'.repeat(Math.max(1, word.length - 1))}`

/** The name as a provider returns it under a fault. Null if the number has no holder. */
const withFault = (name: string | null, fault: EffectOn<'name'> | undefined): string | null => {
  if (fault === 'name_ok') return 'OK'
  if (fault === 'name_other') return 'JANE DOE'
  if (name === null) return null
  if (fault === 'name_swapped') return name.split(' ').toReversed().join(' ')
  return fault === 'name_masked' ? name.split(' ').map(maskWord).join(' ') : name
}

export const createNames = (rules: Rules, folder?: string) => {
  const stored = keepDocument(folder, 'names.json', Stored, {})
  const nameOf = (party: string): string | null => new Map(Object.entries({ ...holders, ...stored.read() })).get(party) ?? null
  return {
    of: nameOf,
    forget: (): void => stored.write({}),
    set: ({ party, name }: z.output<typeof Holder>): void => stored.write({ ...stored.read(), [party]: name }),
    /** A response to a name query. `lost`: the connection is reset instead. */
    query: (rail: RailName, party: string): { name: string | null; lost: boolean; delayMs: number } => {
      const rule = rules.takeMatching('name', { rail, party })
      const fault = rule?.effect ?? faults.get(party)
      return {
        name: withFault(nameOf(party), fault),
        lost: fault === 'name_outage',
        delayMs: rule?.effect === 'name_late' ? rule.delay_ms : 0,
      }
    },
  }
}

/** The first name in full and the other names masked, as M-PESA returns a person's name. */
export const subscriber = (name: string): { firstName: string; middleName: string; lastName: string } => {
  const [first = '', ...others] = name.split(' ')
  const hidden = others.map((word) => (word.includes('*') ? word : maskWord(word)))
  return { firstName: first, middleName: hidden.slice(0, -1).join(' '), lastName: hidden.at(-1) ?? '' }
}
