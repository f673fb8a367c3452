import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useLocation } from 'wouter'
import { credentialQuery } from '../api/queries.ts'
import { useSession } from './session.tsx'

const name = 'administers'

const remembered = (): string | null => {
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}

const remember = (accountId: string | null): void => {
  try {
    if (accountId === null) localStorage.removeItem(name)
    else localStorage.setItem(name, accountId)
  } catch {
    // Without storage it is asked again after each load.
  }
}

/**
 * Whether this person administers the service. The overview, which most visits begin with, makes no call for it: there what was last
 * answered in this browser counts, unless `asks`.
 */
export const useAdministers = (asks = false): boolean => {
  const { account } = useSession()
  const [location] = useLocation()
  const { data } = useQuery({ ...credentialQuery, enabled: asks || location !== '/' })
  useEffect(() => {
    if (data?.is_admin) remember(data.account_id)
    else if (data && remembered() === data.account_id) remember(null)
  }, [data])
  return data ? data.is_admin : remembered() === account.id
}
