import { render } from 'preact';
import { OperatorApi } from './api/operator-api.ts';
import { App } from './app.tsx';
import './style/tokens.css';
import './style/page.css';
import './style/controls.css';
import './style/parts.css';

render(<App api={new OperatorApi()} />, document.getElementById('console') as HTMLElement);
