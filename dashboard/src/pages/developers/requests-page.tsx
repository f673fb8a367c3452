import { useState } from 'react'
import { curlOf, type RecentCall, recentCalls } from '../../lib/recent-calls.ts'
import { useStore } from '../../lib/store.ts'
import { clockText } from '../../lib/time.ts'
import { CodeBlock, CopyText } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Card, Empty } from '../../ui/layout.tsx'
import { Rows } from '../../ui/listing.tsx'
import { Badge } from '../../ui/status.tsx'
import { DevelopersLayout } from './developers-layout.tsx'
import { RequestLog } from './request-log.tsx'

/** This tab's requests: the dashboard uses only the public API, so a program can do the same. */
export const RequestsPage = () => {
  const calls = useStore(recentCalls)
  const [open, setOpen] = useState<RecentCall | null>(null)
  return (
    <DevelopersLayout>
      <Card title="In this tab" note="Each change you made here, as an API request to copy." flush>
        {calls.length === 0 ? (
          <Empty icon="code" title="No requests yet">
            Make a payment, add a beneficiary or change a policy, and its request appears here.
          </Empty>
        ) : (
          <Rows items={calls}>
            {(call) => (
              <button type="button" className="item item-button" onClick={() => setOpen(call)}>
                <span className="faint mono nowrap">{clockText(new Date(call.at).toISOString())}</span>
                <span className="item-main item-title">
                  <Badge dot={false}>{call.method}</Badge>
                  <code>{call.path}</code>
                </span>
              </button>
            )}
          </Rows>
        )}
      </Card>
      <RequestLog />
      {open && (
        <Dialog title="As a curl command" onClose={() => setOpen(null)} wide>
          <CodeBlock code={curlOf(open)} label="curl command" />
          {open.requestId && (
            <p className="faint small">
              Request ID <CopyText value={open.requestId} label="request ID" />
            </p>
          )}
        </Dialog>
      )}
    </DevelopersLayout>
  )
}
