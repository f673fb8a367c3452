import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { grantsQuery } from '../../api/queries.ts'
import { countWords } from '../../lib/list-words.ts'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/copy.tsx'
import { Card, Empty } from '../../ui/layout.tsx'
import { Listing } from '../../ui/listing.tsx'
import { Time } from '../../ui/time.tsx'
import { DevelopersLayout } from './developers-layout.tsx'
import { GrantRow } from './grant-row.tsx'
import { RevokeAgents } from './revoke-agents.tsx'

const Connect = () => (
  <Card title="Connect an agent">
    <div className="stack-s">
      <p className="quiet">
        Give your agent this address. It sends you to a page here, where you see who is asking and set its limits.
      </p>
      <CodeBlock label="Address for agents" code={`${location.origin}/.well-known/oauth-authorization-server`} />
    </div>
  </Card>
)

const NoAgents = () => (
  <Empty icon="robot" title="No connected agents">
    An agent asks to connect, you review what it wants and set limits, and you can revoke it at any time.
  </Empty>
)

/** OAuth authorizations that live; API keys have a list of their own. */
export const AgentsPage = () => {
  const [revoking, setRevoking] = useState(false)
  const query = useInfiniteQuery(grantsQuery)
  const agents = (query.data?.pages.flatMap((page) => page.data) ?? []).filter(
    ({ kind, revoked_at }) => kind === 'oauth' && revoked_at === null,
  )
  return (
    <DevelopersLayout
      actions={
        agents.length > 1 && (
          <Button variant="danger" onClick={() => setRevoking(true)}>
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
                    <GrantRow
                      grant={grant}
                      href={`/developers/agents/${grant.id}`}
                      icon="robot"
                      note={
                        <>
                          Connected <Time at={grant.created_at} /> · {countWords(grant.permissions.length, 'permission')} ·{' '}
                        </>
                      }
                    />
                  </li>
                ))}
              </ul>
            )
          }
        </Listing>
      </Card>
      <Connect />
      {revoking && <RevokeAgents agents={agents} onClose={() => setRevoking(false)} />}
    </DevelopersLayout>
  )
}
