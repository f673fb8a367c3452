import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { grantsQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { useBeneficiaries } from '../../api/use-beneficiaries.ts'
import { controlsWords } from '../../lib/controls-words.ts'
import { countWords } from '../../lib/list-words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { CodeBlock } from '../../ui/copy.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card, Empty } from '../../ui/layout.tsx'
import { Listing } from '../../ui/listing.tsx'
import { Badge } from '../../ui/status.tsx'
import { Time } from '../../ui/time.tsx'
import { announce } from '../../ui/toast.tsx'
import { DevelopersLayout } from './developers-layout.tsx'
import { EditLimits } from './edit-limits.tsx'
import { GrantUsage } from './grant-usage.tsx'

type Grant = Schemas['Grant']
type Open = { what: 'limits' | 'revoke'; grant: Grant } | { what: 'all'; grants: readonly Grant[] } | null

const AgentRow = ({ grant, onOpen }: { grant: Grant; onOpen: (open: Open) => void }) => {
  const { currency } = useSession()
  const beneficiaries = useBeneficiaries()
  return (
    <div className="item" style={{ alignItems: 'flex-start' }}>
      <span className="avatar">
        <Icon name="robot" />
      </span>
      <div className="item-main stack-s">
        <div>
          <p className="item-title">
            {grant.label}
            {grant.frozen && <Badge tone="info">Frozen</Badge>}
          </p>
          <p className="item-note">
            Connected <Time at={grant.created_at} /> ·{' '}
            {grant.last_used_at ? (
              <>
                used <Time at={grant.last_used_at} />
              </>
            ) : (
              'not used yet'
            )}{' '}
            · {countWords(grant.permissions.length, 'permission')}
          </p>
          <p className="item-note">{controlsWords(grant.spending_controls, currency, beneficiaries.nameOf)}</p>
        </div>
        <GrantUsage grant={grant} currency={currency} />
        <div className="row row-tight">
          <Button size="small" onClick={() => onOpen({ what: 'limits', grant })} label={`Limits of ${grant.label}`}>
            Limits
          </Button>
          <Button size="small" variant="danger" onClick={() => onOpen({ what: 'revoke', grant })} label={`Revoke ${grant.label}`}>
            Revoke
          </Button>
        </div>
      </div>
    </div>
  )
}

const Connect = () => (
  <Card title="Connect an agent">
    <div className="stack-s">
      <p className="quiet">
        Give an agent this address. It finds everything else there and sends you to a page of ours, where you see who asks and set
        its limits.
      </p>
      <CodeBlock label="Where agents begin" code={`${location.origin}/.well-known/oauth-authorization-server`} />
    </div>
  </Card>
)

/** OAuth authorizations that live; API keys have a page of their own. */
export const AgentsPage = () => {
  const [open, setOpen] = useState<Open>(null)
  const query = useInfiniteQuery(grantsQuery)
  const agents = (query.data?.pages.flatMap((page) => page.data) ?? []).filter(
    ({ kind, revoked_at }) => kind === 'oauth' && revoked_at === null,
  )
  const close = () => setOpen(null)
  return (
    <DevelopersLayout
      actions={
        agents.length > 1 && (
          <Button variant="danger" onClick={() => setOpen({ what: 'all', grants: agents })}>
            Revoke all
          </Button>
        )
      }
    >
      <Card flush>
        <Listing query={query} rows={2} empty={<NoAgents />}>
          {() =>
            agents.length === 0 ? (
              <NoAgents />
            ) : (
              <ul className="rows">
                {agents.map((grant) => (
                  <li key={grant.id}>
                    <AgentRow grant={grant} onOpen={setOpen} />
                  </li>
                ))}
              </ul>
            )
          }
        </Listing>
      </Card>
      <Connect />
      {open?.what === 'limits' && <EditLimits grant={open.grant} title={`Limits of ${open.grant.label}`} onClose={close} />}
      {open?.what === 'revoke' && <Revoke grants={[open.grant]} title={`Revoke ${open.grant.label}?`} onClose={close} />}
      {open?.what === 'all' && <Revoke grants={open.grants} title={`Revoke all ${open.grants.length} agents?`} onClose={close} />}
    </DevelopersLayout>
  )
}

const NoAgents = () => (
  <Empty icon="robot" title="No agent is connected">
    An agent connects by OAuth: it asks, you look at what it wants, set limits, and can take it back at any time.
  </Empty>
)

const Revoke = ({ grants, title, onClose }: { grants: readonly Grant[]; title: string; onClose: () => void }) => {
  const client = useQueryClient()
  const revoke = useMutation({
    mutationFn: async () => {
      for (const { id } of grants) await call(api.DELETE('/v1/accounts/me/grants/{id}', { params: { path: { id } } }))
    },
    onSuccess: () => {
      announce(grants.length === 1 ? 'Agent revoked' : `${grants.length} agents revoked`)
      onClose()
    },
    onSettled: () => void client.invalidateQueries({ queryKey: ['grants'] }),
  })
  return (
    <Confirm
      title={title}
      action="Revoke"
      busy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate()}
      onClose={onClose}
    >
      <p>
        Its tokens stop working with the next request, and so does everything made through it. To come back it has to ask you
        again.
      </p>
    </Confirm>
  )
}
