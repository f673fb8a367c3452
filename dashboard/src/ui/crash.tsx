import { Component, type ReactNode } from 'react'
import { Notice } from './layout.tsx'

type Props = { children: ReactNode }

/** Shown after a bug in these pages. Nothing at the service is affected by it. */
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
