import { useEffect } from 'react'
import { notifyChoices } from '../lib/choices.ts'
import { useStore } from '../lib/store.ts'
import { lazyPart } from '../ui/lazy.tsx'
import { useSession } from './session.tsx'

// Loads on demand: few pages need this code.
const PushAsk = lazyPart(async () => (await import('../pages/account/push-devices.tsx')).PushPrompt)

const restore = async (account: string): Promise<void> => {
  if (notifyChoices.get().push) await (await import('../lib/push.ts')).restorePush(account)
}

/** Push notifications in this browser: restored at sign-in, and offered once, after the first approval in this browser. */
export const PushOffer = () => {
  const { account } = useSession()
  const { approved, asked, push } = useStore(notifyChoices)
  useEffect(() => {
    // A failure is retried when the next page loads.
    restore(account.id).catch(() => undefined)
  }, [account.id])
  if (!approved || asked || push) return null
  return <PushAsk />
}
