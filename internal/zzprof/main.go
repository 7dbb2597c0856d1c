package main

import (
	"fmt"
	"os"
	"runtime/pprof"
	"time"

	"github.com/waybill-dev/waybill/config"
)

func main() {
	f, _ := os.Create("/tmp/wb/lang-t/cpu.prof")
	pprof.StartCPUProfile(f)
	go func() { time.Sleep(20 * time.Second); pprof.StopCPUProfile(); f.Close(); fmt.Println("timeout"); os.Exit(3) }()
	t := time.Now()
	_, d := config.Load(config.Options{Paths: []string{os.Args[1]}, NeedVariables: true})
	pprof.StopCPUProfile()
	f.Close()
	fmt.Println(time.Since(t), len(d))
	for i, x := range d {
		if i < 3 {
			fmt.Printf("%.200s\n", x.Error())
		}
	}
}
