import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useSession } from '../shell/session.tsx'
import { beneficiariesQuery } from './queries.ts'
import type { Schemas } from './types.ts'

const mostPages = 10

export type Beneficiaries = {
  all: Schemas['Beneficiary'][]
  isPending: boolean
  /** Loading for the first time. */
  isLoading: boolean
  nameOf: (id: string) => string
  find: (id: string) => Schemas['Beneficiary'] | undefined
}

/** Every beneficiary of the workspace (up to a thousand), for choosing one and for turning ids into names. */
export const useBeneficiaries = (): Beneficiaries => {
  const { can } = useSession()
  const query = useInfiniteQuery({ ...beneficiariesQuery, enabled: can('beneficiary.read') })
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = query
  const more = hasNextPage && !isFetchingNextPage && (data?.pages.length ?? 0) < mostPages
  useEffect(() => {
    if (more) void fetchNextPage()
  }, [more, fetchNextPage])
  const all = data?.pages.flatMap((page) => page.data) ?? []
  const find = (id: string) => all.find((beneficiary) => beneficiary.id === id)
  return {
    all,
    isPending: query.isPending,
    isLoading: query.isLoading,
    find,
    nameOf: (id) => find(id)?.display_name ?? 'A beneficiary',
  }
}
