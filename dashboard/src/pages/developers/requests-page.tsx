import { useState } from 'react'
import { curlOf, type RecentCall, recentCalls } from '../../lib/recent-calls.ts'
import { useStore } from '../../lib/store.ts'
import { clockText } from '../../lib/time.ts'
import { CodeBlock, CopyText } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Card, Empty } from '../../ui/layout.tsx'
import { Badge } from '../../ui/status.tsx'
import { DevelopersLayout } from './developers-layout.tsx'

/** Everything that was done in this tab, as requests: the dashboard has no way in that a program doesn't have. */
export const RequestsPage = () => {
  const calls = useStore(recentCalls)
  const [open, setOpen] = useState<RecentCall | null>(null)
  return (
    <DevelopersLayout>
      <Card title="What you just did" note="The changes made in this tab, each as the request behind it." flush>
        {calls.length === 0 ? (
          <Empty icon="code" title="Nothing done yet in this tab">
            Make a payment, add a beneficiary, change a policy: the request for it appears here.
          </Empty>
        ) : (
          <ul className="rows">
            {calls.map((call) => (
              <li key={call.id}>
                <button type="button" className="item item-button" onClick={() => setOpen(call)}>
                  <span className="faint mono nowrap">{clockText(new Date(call.at).toISOString())}</span>
                  <span className="item-main item-title">
                    <Badge dot={false}>{call.method}</Badge>
                    <code>{call.path}</code>
                  </span>
                </button>
              </li>
            ))}
          </ul>
        )}
      </Card>
      {open && (
        <Dialog title="The same from a terminal" onClose={() => setOpen(null)} wide>
          <CodeBlock code={curlOf(open)} label="curl command" />
          {open.requestId && (
            <p className="faint small">
              Request <CopyText value={open.requestId} label="request id" />
            </p>
          )}
        </Dialog>
      )}
    </DevelopersLayout>
  )
}
