import { useEffect, useState } from 'react'
import { t } from '../lib/language.ts'
import { useStore } from '../lib/store.ts'
import { connection } from '../live/live.tsx'
import { useSession } from './session.tsx'

const graceMs = 1500

/** Bar shown while the connection is lost for longer than a moment. It overlays the page, so that nothing moves. */
export const ConnectionBar = () => {
  const state = useStore(connection)
  // The service refuses the stream to a suspended member, whose banner says why. It opens once the member is active again.
  const { membership } = useSession()
  const isLost = state === 'reconnecting' && membership.status === 'active'
  const [visible, setVisible] = useState(false)
  useEffect(() => {
    if (!isLost) {
      setVisible(false)
      return undefined
    }
    const timer = setTimeout(() => setVisible(true), graceMs)
    return () => clearTimeout(timer)
  }, [isLost])
  return (
    <div role="status" aria-live="polite" className="no-print">
      {visible && (
        <div className="connection">
          <span className="spinner" aria-hidden="true" />
          {t('reconnecting')}
        </div>
      )}
    </div>
  )
}
