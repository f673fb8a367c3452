import { plainCode } from '../../../src/lib/bank-code.ts'
import { kenyanBanks } from '../../../src/lib/kenyan-banks.ts'

export const otherBank = 'other'

export const bankOptions: readonly { value: string; label: string }[] = [
  ...kenyanBanks.map(({ code, name }) => ({ value: code, label: name })),
  { value: otherBank, label: 'Another bank' },
]

/** The bank's name where we know it. A code may be written with zeros before it. */
export const bankName = (code: string): string =>
  kenyanBanks.find((bank) => plainCode(bank.code) === plainCode(code))?.name ?? `Bank code ${code}`
