import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useDebounced } from '../lib/debounced.ts'
import { useSession } from '../shell/session.tsx'
import { namedBeneficiariesQuery, newestBeneficiariesQuery, type Schemas, searchedBeneficiariesQuery } from './queries.ts'

type Beneficiary = Schemas['Beneficiary']

export type Beneficiaries = {
  /** What can be offered: the newest ones, or those that match what was searched. */
  all: Beneficiary[]
  /** Whether `all` has every beneficiary of the workspace, so that nothing has to be searched. */
  complete: boolean
  search: (text: string) => void
  isPending: boolean
  nameOf: (id: string) => string
  find: (id: string) => Beneficiary | undefined
}

const unnamed = 'A beneficiary'

/** The names of beneficiaries that something lists: they alone are read. */
export const useBeneficiaryNames = (ids: readonly string[]): ((id: string) => string) => {
  const { can } = useSession()
  const { data } = useQuery(namedBeneficiariesQuery(can('beneficiary.read') ? ids : []))
  return (id) => data?.data.find((beneficiary) => beneficiary.id === id)?.display_name ?? unnamed
}

/** Beneficiaries to choose from: the newest hundred, and by search all others. `chosen`: those that are chosen already. */
export const useBeneficiaries = (chosen: readonly string[] = []): Beneficiaries => {
  const { can } = useSession()
  const reads = can('beneficiary.read')
  const [text, search] = useState('')
  const settled = useDebounced(text.trim())
  const newest = useQuery({ ...newestBeneficiariesQuery, enabled: reads })
  const complete = newest.data ? newest.data.next_cursor === null : false
  const searching = newest.data !== undefined && !complete && settled !== ''
  const found = useQuery({ ...searchedBeneficiariesQuery(settled), enabled: searching, placeholderData: keepPreviousData })
  // A beneficiary that was found and chosen stays known when something else is searched.
  const seen = useRef(new Map<string, Beneficiary>())
  for (const beneficiary of [...(newest.data?.data ?? []), ...(found.data?.data ?? [])])
    seen.current.set(beneficiary.id, beneficiary)
  const missing = newest.data && !complete ? chosen.filter((id) => id !== '' && !seen.current.has(id)) : []
  const named = useQuery(namedBeneficiariesQuery(reads ? missing : []))
  for (const beneficiary of named.data?.data ?? []) seen.current.set(beneficiary.id, beneficiary)
  const find = (id: string) => seen.current.get(id)
  return {
    all: (searching ? found.data?.data : newest.data?.data) ?? [],
    complete,
    search,
    isPending: newest.isPending || (missing.length > 0 && named.isPending),
    find,
    nameOf: (id) => find(id)?.display_name ?? unnamed,
  }
}
