import { Component, type ReactNode } from 'react'
import { Notice } from './layout.tsx'

type Props = { children: ReactNode }

/** A fault of these pages: said plainly, with the one thing that helps. What the service holds is not touched by it. */
export class Crash extends Component<Props, { error: Error | null }> {
  override state: { error: Error | null } = { error: null }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  override render() {
    const { error } = this.state
    if (!error) return this.props.children
    return (
      <main className="single">
        <div className="single-inner">
          <Notice tone="bad" title="This page has failed" live>
            <p className="quiet">This is our fault. Nothing was sent.</p>
            <p className="small quiet mono">{error.message}</p>
            <p style={{ marginTop: '10px' }}>
              <button type="button" className="button button-secondary" onClick={() => location.reload()}>
                Reload
              </button>
            </p>
          </Notice>
        </div>
      </main>
    )
  }
}
