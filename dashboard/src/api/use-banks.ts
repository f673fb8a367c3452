import { useQuery } from '@tanstack/react-query'
import { banksQuery } from './queries.ts'

/** The banks that can be paid, as the service lists them; empty until they are read. */
export const useBanks = () => useQuery(banksQuery).data?.data ?? []

/** The bank's name, or its code where the service no longer lists it. */
export const useBankName = (code: string | null): string | null => {
  const bank = useBanks().find((one) => one.code === code)
  return code === null ? null : (bank?.name ?? `Bank code ${code}`)
}
