export declare function allFaultPoints(): Promise<string[]>;
