import { render } from 'preact';
import { OperatorApi } from './api/operator-api.ts';
import { App } from './app.tsx';
import { forOperators, WordingContext } from './wording.ts';
import './style/tokens.css';
import './style/page.css';
import './style/controls.css';
import './style/parts.css';

render(
  <WordingContext.Provider value={forOperators}>
    <App api={new OperatorApi()} />
  </WordingContext.Provider>,
  document.getElementById('console') as HTMLElement,
);
