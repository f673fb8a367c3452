import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useDebounced } from '../lib/drafts.ts'
import { t } from '../lib/language.ts'
import { payeeLabels } from '../lib/rails.ts'
import { type Member, nameAmong } from '../lib/words.ts'
import { useSession } from '../shell/session.tsx'
import {
  api,
  banksQuery,
  inWorkspace,
  namedBeneficiariesQuery,
  newestBeneficiariesQuery,
  parametersOf,
  type Schemas,
  searchedBeneficiariesQuery,
} from './queries.ts'

const membersOf = async (workspaceId: string): Promise<Member[]> => {
  const members: Member[] = []
  for (let cursor: string | undefined; ; ) {
    const query = parametersOf({ limit: 100, cursor })
    const page = await api.GET('/v1/workspaces/current/members', { query, ...inWorkspace(workspaceId) })
    members.push(...page.data)
    if (page.next_cursor === null) return members
    cursor = page.next_cursor
  }
}

/**
 * Account ids as the people of these workspaces know them; without any, of this one. The members are read once a name is asked for that is
 * not the reader's own.
 */
export const usePeople = (workspaceIds?: readonly string[]): ((accountId: string) => string) => {
  const { account, workspace } = useSession()
  const [asked, setAsked] = useState(false)
  return useQueries({
    queries: (workspaceIds ?? [workspace.id]).map((id) => ({
      queryKey: ['members', id],
      queryFn: () => membersOf(id),
      enabled: asked,
    })),
    combine: (results) => {
      const members = results.flatMap(({ data }) => data ?? [])
      const areAll = results.every(({ data }) => data !== undefined)
      return (id: string) => {
        // After the rendering, which may be that of a row in another component.
        if (id !== account.id && !asked) queueMicrotask(() => setAsked(true))
        return nameAmong(members, areAll, account.id, id)
      }
    },
  })
}

type Beneficiary = Schemas['Beneficiary']

export type Beneficiaries = {
  /** What can be offered: the newest ones, or those that match what was searched. */
  all: Beneficiary[]
  /** Whether `all` has every beneficiary of the workspace, so that nothing has to be searched. */
  complete: boolean
  /** Whether someone can be paid: one of them is active, or not all are known. */
  hasActive: boolean
  search: (text: string) => void
  isPending: boolean
  nameOf: (id: string) => string
  /** The name in a choice, with more where others may have the same. */
  labelOf: (id: string) => string
  find: (id: string) => Beneficiary | undefined
}

const unnamed = t('a_beneficiary')

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
  const all = (searching ? found.data?.data : newest.data?.data) ?? []
  const label = payeeLabels(all, complete)
  return {
    all,
    complete,
    hasActive: newest.data !== undefined && (!complete || all.some(({ status }) => status === 'active')),
    search,
    isPending: newest.isPending || (missing.length > 0 && named.isPending),
    find,
    nameOf: (id) => find(id)?.display_name ?? unnamed,
    labelOf: (id) => {
      const beneficiary = find(id)
      return beneficiary ? label(beneficiary) : unnamed
    },
  }
}

/** The banks that can be paid, as the service lists them; empty until they are read. */
export const useBanks = () => useQuery(banksQuery).data?.data ?? []

/** The bank's name, or its code where the service no longer lists it. */
export const useBankName = (code: string | null): string | null => {
  const bank = useBanks().find((one) => one.code === code)
  return code === null ? null : (bank?.name ?? t('bank_code', { code }))
}
