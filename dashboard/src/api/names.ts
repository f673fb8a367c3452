import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { beneficiaryLabels } from '../lib/beneficiary-labels.ts'
import { useDebounced } from '../lib/drafts.ts'
import { t } from '../lib/language.ts'
import { type Member, memberName, nameAmong } from '../lib/words.ts'
import { useSession } from '../shell/session.tsx'
import {
  api,
  banksQuery,
  everyPage,
  inWorkspace,
  membersQuery,
  namedBeneficiariesQuery,
  newestBeneficiariesQuery,
  parametersOf,
  rowsOf,
  type Schemas,
  searchedBeneficiariesQuery,
} from './queries.ts'
import { useEvery } from './use-every.ts'

const membersOf = (workspaceId: string): Promise<Member[]> =>
  everyPage((cursor) =>
    api.GET('/v1/workspaces/current/members', { query: parametersOf({ limit: 100, cursor }), ...inWorkspace(workspaceId) }),
  )

/**
 * Names of accounts, from the members of the given workspaces. Default: this workspace. The members are loaded when a page asks
 * for a name other than the reader's own.
 */
export const usePeople = (workspaceIds?: readonly string[]): ((accountId: string) => string) => {
  const { account, workspace } = useSession()
  const [isNeeded, setNeeded] = useState(false)
  return useQueries({
    queries: (workspaceIds ?? [workspace.id]).map((id) => ({
      queryKey: ['members', id],
      queryFn: () => membersOf(id),
      enabled: isNeeded,
    })),
    combine: (results) => {
      const members = results.flatMap(({ data }) => data ?? [])
      const areAll = results.every(({ data }) => data !== undefined)
      return (id: string) => {
        // Deferred until rendering has ended: another component may be rendering, and React forbids a state change then.
        if (id !== account.id && !isNeeded) queueMicrotask(() => setNeeded(true))
        return nameAmong(members, areAll, account.id, id)
      }
    },
  })
}

/** Members to choose from, and the chosen person even if they have left. */
export const usePersonOptions = (chosen: string, enabled = true): { value: string; label: string }[] => {
  const members = useEvery({ ...membersQuery, enabled })
  const options = rowsOf(members).map((member) => ({ value: member.account_id, label: memberName(member) }))
  if (chosen === '' || options.some(({ value }) => value === chosen)) return options
  const areAll = members.data !== undefined && !members.hasNextPage
  return [...options, { value: chosen, label: t(areAll ? 'former_member' : 'loading') }]
}

type Beneficiary = Schemas['Beneficiary']

export type Beneficiaries = {
  /** Choices to offer: the newest beneficiaries, or the results of a search. */
  offered: Beneficiary[]
  /** Whether `offered` has every beneficiary of the workspace, which makes a search unnecessary. */
  hasAll: boolean
  /** Whether anyone can be paid: a loaded beneficiary is active, or there are more to load. */
  hasActive: boolean
  search: (text: string) => void
  isPending: boolean
  /** Why no beneficiary could be loaded. */
  error: Error | null
  retry: () => void
  nameOf: (id: string) => string
  /** Name in a choice, with more details if others may share it. */
  labelOf: (id: string) => string
  find: (id: string) => Beneficiary | undefined
}

const unnamed = t('a_beneficiary')

/** Names of the beneficiaries with these ids. Loads no others. */
export const useBeneficiaryNames = (ids: readonly string[]): ((id: string) => string) => {
  const { can } = useSession()
  const { data } = useQuery(namedBeneficiariesQuery(can('beneficiary.read') ? ids : []))
  return (id) => data?.find((beneficiary) => beneficiary.id === id)?.display_name ?? unnamed
}

/** Beneficiaries to choose from: the newest hundred, and all others by search. `chosen`: ids of a choice already made. */
export const useBeneficiaries = (chosen: readonly string[] = []): Beneficiaries => {
  const { can } = useSession()
  const reads = can('beneficiary.read')
  const [text, search] = useState('')
  const settled = useDebounced(text.trim())
  const newest = useQuery({ ...newestBeneficiariesQuery, enabled: reads })
  const hasAll = newest.data ? newest.data.next_cursor === null : false
  const searching = newest.data !== undefined && !hasAll && settled !== ''
  const found = useQuery({ ...searchedBeneficiariesQuery(settled), enabled: searching, placeholderData: keepPreviousData })
  // Keeps every loaded beneficiary, so that a chosen one keeps its name when the search changes.
  const seen = useRef(new Map<string, Beneficiary>())
  for (const beneficiary of [...(newest.data?.data ?? []), ...(found.data?.data ?? [])])
    seen.current.set(beneficiary.id, beneficiary)
  const missing = newest.data && !hasAll ? chosen.filter((id) => id !== '' && !seen.current.has(id)) : []
  const named = useQuery(namedBeneficiariesQuery(reads ? missing : []))
  for (const beneficiary of named.data ?? []) seen.current.set(beneficiary.id, beneficiary)
  const find = (id: string) => seen.current.get(id)
  const offered = (searching ? found.data?.data : newest.data?.data) ?? []
  const label = beneficiaryLabels(offered, hasAll)
  return {
    offered,
    hasAll,
    hasActive: newest.data !== undefined && (!hasAll || offered.some(({ status }) => status === 'active')),
    search,
    isPending: newest.isPending || (missing.length > 0 && named.isPending),
    error: newest.data ? null : newest.error,
    retry: () => void newest.refetch(),
    find,
    nameOf: (id) => find(id)?.display_name ?? unnamed,
    labelOf: (id) => {
      const beneficiary = find(id)
      return beneficiary ? label(beneficiary) : unnamed
    },
  }
}

/** Banks that can be paid. Empty until loaded. */
export const useBanks = () => useQuery(banksQuery).data?.data ?? []

/** The bank's name, or its code if the service no longer lists the bank. */
export const useBankName = (code: string | null): string | null => {
  const bank = useBanks().find((one) => one.code === code)
  return code === null ? null : (bank?.name ?? t('bank_code', { code }))
}
