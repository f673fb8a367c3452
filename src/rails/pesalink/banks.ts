import { type Bank, plainCode } from '../../lib/bank-code.ts'
import { kenyanBanks } from '../../lib/kenyan-banks.ts'

/** The codes that are accepted: those that the bank's own numbering is configured for, else all. */
export const banksOf = (codes: Readonly<Record<string, string>> | 'as_given'): readonly Bank[] => {
  if (codes === 'as_given') return kenyanBanks
  const nameOf = (code: string) => kenyanBanks.find((bank) => plainCode(bank.code) === plainCode(code))?.name ?? `Bank ${code}`
  return Object.keys(codes)
    .sort()
    .map((code) => ({ code, name: nameOf(code) }))
}
